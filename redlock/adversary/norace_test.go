//go:build !race

package adversary

const usualSchedules = 100_000
