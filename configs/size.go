package configs

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes, in YAML a number with a unit: 500MB, 4GiB.
type Size int64

var units = []struct {
	name  string
	bytes int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

// ParseSize reads 500MB, 4GiB, 1.5 GiB or a plain number of bytes. Upper and lower case mean the
// same. A negative size is an error, and so is one above 2^63-1 bytes.
func ParseSize(s string) (Size, error) {
	number, factor := strings.TrimSpace(s), int64(1)
	for _, u := range units {
		if n := len(number) - len(u.name); n > 0 && strings.EqualFold(number[n:], u.name) {
			number, factor = strings.TrimSpace(number[:n]), u.bytes
			break
		}
	}
	if n, err := strconv.ParseInt(number, 10, 64); err == nil {
		switch {
		case n < 0:
			return 0, fmt.Errorf("%s is negative", shown(s))
		case n > math.MaxInt64/factor:
			return 0, fmt.Errorf("%s is too large", shown(s))
		}
		return Size(n * factor), nil
	}
	f, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil || math.IsNaN(f) || strings.ContainsAny(number, "xXpP_"):
		return 0, fmt.Errorf("%s must be a size with a unit, such as 500MB or 4GiB", shown(s))
	case f < 0:
		return 0, fmt.Errorf("%s is negative", shown(s))
	case f*float64(factor) >= math.MaxInt64:
		return 0, fmt.Errorf("%s is too large", shown(s))
	}
	return Size(f * float64(factor)), nil
}

// String is the size in the largest unit that needs no fraction: 4GiB.
func (s Size) String() string {
	best, name := int64(1), "B"
	for _, u := range units {
		if u.bytes > best && s != 0 && int64(s)%u.bytes == 0 {
			best, name = u.bytes, u.name
		}
	}
	return strconv.FormatInt(int64(s)/best, 10) + name
}
