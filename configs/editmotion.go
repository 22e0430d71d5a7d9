package configs

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ChangeMotion makes the sensitivity, masks, regions, lines and areas of one camera in a file's
// content those of want, and leaves every other byte, the comments among them, as it is; the rest
// of want is not looked at. Regions, lines and areas are told apart by their ids and stay in the
// file's order, behind them what is new. A region of sensitivity 0 has the camera's. The result was
// read again: it says what is wanted, and nothing else has changed. What is written so that this
// cannot be done is an error that says why.
func ChangeMotion(name string, content []byte, id string, want CameraMotion) ([]byte, error) {
	return change("change the camera", name, content, func(s *sheet, before *Config) (expectation, error) {
		at, err := before.place(id)
		if err != nil {
			return nil, err
		}
		expected := s.motion([]any{"cameras", at, "motion"}, before.Cameras[at].Motion, want)
		return func(want, got *Config) bool {
			if len(got.Cameras) != len(want.Cameras) {
				return false
			}
			now, hoped := &got.Cameras[at].Motion, &want.Cameras[at].Motion
			*hoped = expected
			for i, r := range now.Regions {
				if i < len(hoped.Regions) && hoped.Regions[i].Sensitivity == 0 {
					hoped.Regions[i].Sensitivity = r.Sensitivity
				}
			}
			for _, m := range []*CameraMotion{now, hoped} {
				m.Masks, m.Regions, m.Lines, m.Areas = filled(m.Masks), filled(m.Regions), filled(m.Lines),
					filled(m.Areas)
			}
			return true
		}, nil
	})
}

// filled is a list, nil where it is empty.
func filled[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return list
}

// setting is a key and its text. One that is plain is written only where the key is there already.
type setting struct {
	key, text string
	plain     bool
}

// motion makes all changes, and returns what the camera's motion is to be then.
func (s *sheet) motion(group []any, have, want CameraMotion) CameraMotion {
	out, camera := have, have.Sensitivity
	if want.Sensitivity != have.Sensitivity {
		s.set(number(want.Sensitivity), append(group, "sensitivity")...)
		out.Sensitivity = want.Sensitivity
	}
	out.Masks = changeItems(s, append(group, "masks"), have.Masks, want.Masks, func(p Polygon) string {
		return corners(p)
	})
	out.Regions = changeNamed(s, append(group, "regions"), have.Regions, want.Regions,
		func(r *Region) (string, []setting) {
			r.Name = cmp.Or(r.Name, r.ID)
			if r.Sensitivity == camera {
				r.Sensitivity = 0
			}
			keen := setting{"sensitivity", number(r.Sensitivity), false}
			if r.Sensitivity == 0 {
				keen = setting{key: "sensitivity", plain: true}
			}
			return r.ID, []setting{named(r.Name, r.ID), {"area", corners(r.Area), false}, keen}
		})
	out.Lines = changeNamed(s, append(group, "lines"), have.Lines, want.Lines, func(l *Line) (string, []setting) {
		l.Name = cmp.Or(l.Name, l.ID)
		return l.ID, []setting{named(l.Name, l.ID), {"points", corners(l.Points), false},
			{"direction", scalarText(l.Direction), l.Direction == "any"}}
	})
	out.Areas = changeNamed(s, append(group, "areas"), have.Areas, want.Areas, func(a *Area) (string, []setting) {
		a.Name = cmp.Or(a.Name, a.ID)
		return a.ID, []setting{named(a.Name, a.ID), {"area", corners(a.Area), false},
			{"intrusion", strconv.FormatBool(a.Intrusion), a.Intrusion},
			{"loiter", durationText(a.Loiter), a.Loiter == 0}}
	})
	return out
}

func named(name, id string) setting { return setting{"name", scalarText(name), name == id} }

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func corners(list [][2]float64) string {
	var b strings.Builder
	for _, p := range list {
		fmt.Fprintf(&b, ", [%s, %s]", number(p[0]), number(p[1]))
	}
	return "[" + strings.TrimPrefix(b.String(), ", ") + "]"
}

// durationText is a duration as people write it: 30s, 5m, 1h30m.
func durationText(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// changeItems is for a list whose items have no ids: those that are wanted and there stay, others
// take the places of those that are not wanted any more. It returns the list as it is then.
func changeItems[T any](s *sheet, path []any, have, want []T, text func(T) string) []T {
	isIn := func(list []T, v T) bool {
		return slices.ContainsFunc(list, func(w T) bool { return text(v) == text(w) })
	}
	others := slices.DeleteFunc(slices.Clone(want), func(v T) bool { return isIn(have, v) })
	out := slices.Clone(have)
	for i := len(have) - 1; i >= 0; i-- {
		switch {
		case isIn(want, have[i]):
		case len(others) > 0:
			last := len(others) - 1
			out[i] = others[last]
			s.replace(text(others[last]), append(path, i)...)
			others = others[:last]
		default:
			out = slices.Delete(out, i, i+1)
			s.drop(append(path, i)...)
		}
	}
	for _, v := range others {
		out = append(out, v)
		s.add(dashed([]string{text(v)}), path...)
	}
	return out
}

// changeNamed makes have what is wanted, and returns it in the file's order. of is the id of one,
// and its settings; it completes what is left out.
func changeNamed[T any](s *sheet, path []any, have, want []T, of func(*T) (string, []setting)) []T {
	out, want := slices.Clone(have), slices.Clone(want)
	find := func(list []T, id string) int {
		return slices.IndexFunc(list, func(v T) bool { other, _ := of(&v); return other == id })
	}
	for i := len(out) - 1; i >= 0; i-- {
		id, old := of(&out[i])
		w := find(want, id)
		if w < 0 {
			out = slices.Delete(out, i, i+1)
			s.drop(append(path, i)...)
			continue
		}
		_, settings := of(&want[w])
		for n, e := range settings {
			if e != old[n] {
				s.set(e.text, append(path, i, e.key)...)
			}
		}
		out[i] = want[w]
	}
	for i := range want {
		id, settings := of(&want[i])
		if find(have, id) >= 0 && find(want, id) == i {
			continue
		}
		lines := []string{"id: " + scalarText(id)}
		for _, e := range settings {
			if !e.plain {
				lines = append(lines, e.key+": "+e.text)
			}
		}
		out = append(out, want[i])
		s.add(dashed(lines), path...)
	}
	return out
}
