package plane

// Wear takes one picture into what is remembered of how much has moved where: up more, at most 255,
// in a cell that has the flag Moved, unless it is one that something passes through (its passing is
// not 0), which stays as it is; down less, at least 0, in one that has not.
func Wear(memory, flags, passing []byte, up, down uint8) {
	n := len(memory)
	flags, passing = flags[:n], passing[:n]
	done := wearWide(memory, flags, passing, up, down)
	wearPlain(memory[done:], flags[done:], passing[done:], up, down)
}

// wearPlain is the reference of Wear.
func wearPlain(memory, flags, passing []byte, up, down uint8) {
	for i, f := range flags {
		switch {
		case f&Moved == 0:
			memory[i] -= min(memory[i], down)
		case passing[i] == 0:
			memory[i] += min(255-memory[i], up)
		}
	}
}
