//go:build race

package sim

const million = 20_000 // the race detector is ten times slower
