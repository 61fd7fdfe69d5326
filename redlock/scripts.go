package redlock

import (
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
)

//go:embed scripts/prelude.lua
var prelude string

//go:embed scripts/acquire.lua
var acquireLua string

//go:embed scripts/confirm.lua
var confirmLua string

//go:embed scripts/extend.lua
var extendLua string

//go:embed scripts/repair.lua
var repairLua string

//go:embed scripts/release.lua
var releaseLua string

// A script is what a master runs for one operation, and the name by which EVALSHA calls it.
type script struct{ text, sha string }

var scripts = [...]script{
	OpAcquire: newScript(acquireLua),
	OpConfirm: newScript(confirmLua),
	OpExtend:  newScript(extendLua),
	OpRepair:  newScript(repairLua),
	OpRelease: newScript(releaseLua),
}

func newScript(body string) script {
	text := prelude + body
	sum := sha1.Sum([]byte(text))
	return script{text: text, sha: hex.EncodeToString(sum[:])}
}
