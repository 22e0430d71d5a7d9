package segment

import (
	"cmp"
	"fmt"
)

// Kind says which stream a still is from.
type Kind uint8

// The kinds.
const (
	Preview Kind = 1 // from the stream used for motion
	Main    Kind = 2 // full resolution
)

func (k Kind) String() string {
	switch k {
	case Preview:
		return "preview"
	case Main:
		return "main"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// ParseKind reads "preview" or "main".
func ParseKind(s string) (Kind, error) {
	switch s {
	case "preview":
		return Preview, nil
	case "main":
		return Main, nil
	}
	return 0, fmt.Errorf("type %q: must be preview or main", s)
}

// Key names the stills that are asked for together.
type Key struct {
	Camera string
	Kind   Kind
}

// CompareKeys is the order in which an index has its series.
func CompareKeys(a, b Key) int {
	return cmp.Or(cmp.Compare(a.Camera, b.Camera), cmp.Compare(a.Kind, b.Kind))
}
