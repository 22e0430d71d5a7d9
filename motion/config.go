package motion

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Defaults of Config.
const (
	DefaultSensitivity = 0.5
	DefaultQuietPeriod = 1500 * time.Millisecond
	DefaultMaxDuration = 5 * time.Minute
)

// maxRegions bounds the regions of one camera: a cell's regions are the bits of one word.
const maxRegions = 64

// Config says what to look for. Its zero value means the defaults, which are meant to be right for
// every camera.
type Config struct {
	// Sensitivity is from just above 0 (only large, high-contrast things) to 1 (everything above
	// the noise); 0 means DefaultSensitivity. What is found at one sensitivity is found at each
	// that is higher. Above the default each picture is looked at twice.
	Sensitivity float64
	// Regions are areas with spans of their own, besides those of the whole picture. At most 64.
	Regions []Region
	// Masks are areas that are never looked at, not even for the whole picture or a region.
	Masks []Polygon
	// QuietPeriod is how long nothing may move before a span ends: two bursts closer than this are
	// one span. 0 means DefaultQuietPeriod.
	QuietPeriod time.Duration
	// MinDuration is how long something must move to be a span at all. 0 leaves it to the detector,
	// which wants about 0.3 s.
	MinDuration time.Duration
	// MaxDuration is where a span is cut and continued by another. 0 means DefaultMaxDuration.
	MaxDuration time.Duration
}

// Region is a named area with spans of its own.
type Region struct {
	// ID comes back in Change.Region. It must not be empty, and not occur twice.
	ID string
	// Name is for people; the detector does not use it.
	Name string
	// Area is the region's outline.
	Area Polygon
	// Sensitivity is how much must move inside the area, and how strongly it must differ, on the
	// scale of Config.Sensitivity; 0 means that of the Config. It changes nothing outside of the
	// area: neither the spans of the whole picture nor those of other regions.
	Sensitivity float64
}

// Validate reports all problems of c, joined; nil means that New accepts it.
func (c Config) Validate() error {
	var errs []error
	if err := checkSensitivity(c.Sensitivity); err != nil {
		errs = append(errs, fmt.Errorf("check sensitivity: %w", err))
	}
	for _, d := range []struct {
		name  string
		value time.Duration
	}{{"quiet period", c.QuietPeriod}, {"minimum duration", c.MinDuration}, {"maximum duration", c.MaxDuration}} {
		if d.value < 0 {
			errs = append(errs, fmt.Errorf("check %s: %v is negative", d.name, d.value))
		}
	}
	if c.MaxDuration > 0 && c.MaxDuration <= c.MinDuration {
		errs = append(errs, fmt.Errorf("check maximum duration: %v is not longer than the minimum duration %v",
			c.MaxDuration, c.MinDuration))
	}
	for i, m := range c.Masks {
		if err := m.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("check mask %d: %w", i+1, err))
		}
	}
	if len(c.Regions) > maxRegions {
		errs = append(errs, fmt.Errorf("check regions: %d are more than %d", len(c.Regions), maxRegions))
	}
	seen := map[string]bool{}
	for i, r := range c.Regions {
		switch {
		case r.ID == "":
			errs = append(errs, fmt.Errorf("check region %d: it has no id", i+1))
		case seen[r.ID]:
			errs = append(errs, fmt.Errorf("check region %d: the id %q is there twice", i+1, r.ID))
		}
		seen[r.ID] = true
		if err := r.Area.Validate(); err != nil {
			errs = append(errs, fmt.Errorf("check region %d (%q): %w", i+1, r.ID, err))
		}
		if err := checkSensitivity(r.Sensitivity); err != nil {
			errs = append(errs, fmt.Errorf("check region %d (%q): sensitivity: %w", i+1, r.ID, err))
		}
	}
	return errors.Join(errs...)
}

func checkSensitivity(s float64) error {
	if math.IsNaN(s) || s < 0 || s > 1 {
		return fmt.Errorf("%v is outside 0..1", s)
	}
	return nil
}

// withDefaults returns c with its zero values replaced.
func (c Config) withDefaults() Config {
	if c.Sensitivity == 0 {
		c.Sensitivity = DefaultSensitivity
	}
	if c.QuietPeriod == 0 {
		c.QuietPeriod = DefaultQuietPeriod
	}
	if c.MaxDuration == 0 {
		c.MaxDuration = max(DefaultMaxDuration, 2*c.MinDuration)
	}
	return c
}

// contrastFor is the difference, in 1/256 grey levels, that a cell without any noise must show: 6
// levels at 0.5, 18 near 0, 2 at 1.
func contrastFor(sensitivity float64) int32 {
	return int32(math.Round(256 * 6 * math.Pow(3, 1-2*sensitivity)))
}

// shareFor is the smallest share of the picture that counts as a moving thing: 0.0004 at 0.5, ten
// times that near 0, a tenth at 1. A thing of 0.001 of the picture that moves by half its length
// changes about as much.
func shareFor(sensitivity float64) float64 {
	return 0.0004 * math.Pow(10, 1-2*sensitivity)
}

// LeastShare is the share of the picture that something must be, about, to count as motion at a
// sensitivity: what Activity.Share is held against.
func LeastShare(sensitivity float64) float64 { return shareFor(sensitivity) }
