package configs

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// days are what stands in front of the units that Go has: weeks and days, each of 24 hours.
var days = regexp.MustCompile(`^([+-]?)(?:(\d{1,5}(?:\.\d+)?)w)?(?:(\d{1,6}(?:\.\d+)?)d)?(.*)$`)

// ParseDuration reads a duration as time.ParseDuration does, and also in weeks and days of 24
// hours: 7d, 2w, 1d12h.
func ParseDuration(text string) (time.Duration, error) {
	wrong := fmt.Errorf("%q is not a length of time: write a number with a unit, such as 500ms, 10s, 2h or 7d", text)
	part := days.FindStringSubmatch(text)
	if part == nil || part[2]+part[3] == "" {
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, wrong
		}
		return d, nil
	}
	weeks, _ := strconv.ParseFloat("0"+part[2], 64)
	more, _ := strconv.ParseFloat("0"+part[3], 64)
	sum := (weeks*7 + more) * float64(24*time.Hour)
	var rest time.Duration
	var err error
	if part[4] != "" {
		if rest, err = time.ParseDuration(part[4]); err != nil || strings.ContainsAny(part[4][:1], "+-") {
			return 0, wrong
		}
	}
	if sum += float64(rest); sum >= float64(1<<63-1) {
		return 0, wrong
	}
	if part[1] == "-" {
		sum = -sum
	}
	return time.Duration(sum), nil
}
