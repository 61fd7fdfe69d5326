// Package adversary has no code but a test: the real client of package redlock against masters that lose keys, and carry out
// requests late, twice, out of order or never, as an adversary chooses. It searches for two grants with one token, or with
// tokens in the wrong order. docs/tokens.md has the proof that there are none; this looks for the mistake in it.
package adversary
