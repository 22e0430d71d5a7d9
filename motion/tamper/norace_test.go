//go:build !race

package tamper_test

const raced = false
