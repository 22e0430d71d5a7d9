package serve

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Fault is one thing that the camera does wrong on request. N is its number, whose meaning and
// default depend on the name.
type Fault struct {
	Name string
	N    int
}

// faults are the misbehaviours, each with its default number.
var faults = map[string]struct {
	n    int
	help string
}{
	"silent":      {0, "plays and sends nothing"},
	"freeze":      {10, "sends nothing any more N s after PLAY; the session stays"},
	"bye":         {10, "says RTCP BYE N s after PLAY and falls silent"},
	"disconnect":  {10, "closes the connection N s after PLAY"},
	"ssrc":        {10, "goes on with another SSRC N s after PLAY (TCP only)"},
	"loss":        {50, "drops every Nth packet"},
	"jump":        {10, "RTP time jumps an hour, forwards and backwards in turn, every N s"},
	"drift":       {200, "the camera's clock, and RTP time with it, goes N ppm too slow"},
	"same-time":   {0, "every packet has the same RTP time"},
	"ntp":         {3600, "the sender reports are N s ahead"},
	"no-keyframe": {0, "never sends a keyframe"},
	"no-params":   {0, "describes the stream without its parameter sets"},
	"garbage":     {0, "sends random bytes in its packets"},
	"no-tcp":      {0, "answers 461 to TCP"},
	"no-packets":  {0, "accepts UDP and sends nothing by it, as behind a firewall"},
	"busy":        {0, "answers 453 to SETUP"},
	"forbidden":   {0, "answers 403 to DESCRIBE"},
}

// ParseFault reads NAME or NAME=N.
func ParseFault(s string) (Fault, error) {
	name, num, has := strings.Cut(s, "=")
	f, ok := faults[name]
	if !ok {
		return Fault{}, fmt.Errorf("misbehave as %q: there is no such fault; there are %s", name,
			strings.Join(FaultNames(), ", "))
	}
	if !has {
		return Fault{name, f.n}, nil
	}
	n, err := strconv.Atoi(num)
	if err != nil || n < 1 || n > 1_000_000 {
		return Fault{}, fmt.Errorf("misbehave as %q: the number must be 1 to 1000000", s)
	}
	return Fault{name, n}, nil
}

// FaultNames are the names of all faults.
func FaultNames() []string { return slices.Sorted(maps.Keys(faults)) }

// FaultHelp lists all faults, one a line.
func FaultHelp() string {
	var b strings.Builder
	for _, name := range FaultNames() {
		fmt.Fprintf(&b, "%-12s %s", name, faults[name].help)
		if n := faults[name].n; n > 0 {
			fmt.Fprintf(&b, " (N is %d)", n)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// fault returns the number of a fault that was asked for.
func (s *Server) fault(name string) (n int, on bool) {
	for _, f := range s.o.Faults {
		if f.Name == name {
			return f.N, true
		}
	}
	return 0, false
}

// due says that a fault which begins some seconds after PLAY has begun.
func (s *Server) due(name string, sincePlay time.Duration) bool {
	n, on := s.fault(name)
	return on && sincePlay >= time.Duration(n)*time.Second
}
