//go:build !race

package sim

const million = 1_000_000
