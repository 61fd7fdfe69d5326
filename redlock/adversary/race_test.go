//go:build race

package adversary

// The race detector makes a schedule several times as slow. The full number runs without it.
const usualSchedules = 5_000
