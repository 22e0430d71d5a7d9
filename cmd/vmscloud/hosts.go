package main

import (
	"log/slog"
	"slices"
	"strings"
	"sync"
)

// names says which names a client may be told that it used. That one is not among them is said
// once: who sends requests chooses their names.
func (c runCmd) names(log *slog.Logger) func(string) bool {
	var once sync.Once
	return func(name string) bool {
		if slices.ContainsFunc(c.Host, func(given string) bool { return strings.EqualFold(given, name) }) {
			return true
		}
		once.Do(func() {
			log.Info("a client used a name that is not known; it is told the address that it reached", "name", name,
				"hint", "if this service goes by that name: --host NAME, or --public-url URL")
		})
		return false
	}
}
