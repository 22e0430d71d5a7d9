//go:build race

package tamper_test

// raced: the race detector makes the drawing of films many times slower, and has little to say of code without goroutines.
const raced = true
