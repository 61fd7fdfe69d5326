package live

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
)

func childAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// standsStill says whether SIGSTOP has taken effect on a process. The state is the field after the command's name, which
// is in parentheses and may hold anything (proc(5)).
func standsStill(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	return bytes.HasPrefix(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" T"))
}
