package accuracy_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"vmsbridge/motion"
	drawn "vmsbridge/scripts/lab/scene"
)

var (
	rulesOff = flag.Bool("rules", false, "TestRules: switch off each rule of the detector, one at a time")
	onlyRule = flag.String("rule", ".", "TestRules: only those whose names match")
	onlyPart = flag.String("parts", ".", "TestRules, TestParts: only the parts whose names match")
)

// rule is a decision of the detector that is looked at without: in a file of motion, what is there
// and what is put in its place.
type rule struct{ name, file, is, becomes string }

// TestRules prints, for each rule of the detector, what is found without it in real clips,
// composites and drawn scenes. A rule that makes none of them worse when it is off is not needed.
func TestRules(t *testing.T) {
	if !*rulesOff {
		t.Skip("ask for it with -rules: each rule takes some seconds")
	}
	realDir(t)
	root := rootDir(t)
	names := slices.DeleteFunc(slices.Clone(partNames), func(n string) bool { return !wantsPart(n) })
	fmt.Println("| off | " + strings.Join(names, " | ") + " |")
	fmt.Println("|---|" + strings.Repeat("---|", len(names)))
	only := regexp.MustCompile(*onlyRule)
	for _, r := range append([]rule{{name: "nothing"}}, rules...) {
		if !only.MatchString(r.name) {
			continue
		}
		overlay := map[string]map[string]string{"Replace": {}}
		if r.file != "" {
			path := filepath.Join(root, "motion", r.file)
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Contains(t, string(text), r.is, "%s: the rule is not there", r.name)
			changed := filepath.Join(t.TempDir(), "changed.go")
			require.NoError(t, os.WriteFile(changed, []byte(strings.Replace(string(text), r.is, r.becomes, 1)), 0o644))
			overlay["Replace"][path] = changed
		}
		list, err := json.Marshal(overlay)
		require.NoError(t, err)
		file := filepath.Join(t.TempDir(), "overlay.json")
		require.NoError(t, os.WriteFile(file, list, 0o644))
		said, err := exec.Command("go", "test", "-vet=off", "-overlay", file, "-run", "^TestParts$", "-count=1", "-v",
			".", "-parts", *onlyPart).CombinedOutput()
		require.NoError(t, err, "%s: %s", r.name, said)
		for l := range strings.Lines(string(said)) {
			if row, ok := strings.CutPrefix(l, "parts: "); ok {
				fmt.Printf("| %s | %s", r.name, row)
			}
		}
	}
}

// partNames are the parts. Of each TestParts prints found of motions, false starts, splits, and the
// p95 of starts and of ends.
var partNames = []string{"real, making", "begun in the midst", "composite, making", "drawn"}

// TestRulesAreThere: each rule can still be switched off.
func TestRulesAreThere(t *testing.T) {
	for _, r := range rules {
		text, err := os.ReadFile(filepath.Join(rootDir(t), "motion", r.file))
		require.NoError(t, err)
		require.Contains(t, string(text), r.is, "%s: the rule is not there", r.name)
	}
}

func rootDir(t *testing.T) string {
	root, err := filepath.Abs(filepath.Join("..", "..", ".."))
	require.NoError(t, err)
	return root
}

func wantsPart(name string) bool { return regexp.MustCompile(*onlyPart).MatchString(name) }

// TestParts prints one line: what the detector finds in the parts that it may be made by.
func TestParts(t *testing.T) {
	dir := realDir(t)
	var c motion.Config
	line := ""
	for i, find := range []func() tally{
		func() tally { all, _ := realTally(t, dir, false, "", c); return all },
		func() tally { return startTally(t, dir, false, c) },
		func() tally { return compositeTally(t, dir, false, c) },
		func() tally { return drawnTally(t, dir, c) },
	} {
		if !wantsPart(partNames[i]) {
			continue
		}
		a := find()
		line += fmt.Sprintf("%d/%d, %d false, %d splits, %.1f and %.1f s | ", a.found, a.motions, a.alarms, a.splits,
			percentileOf(a.onset, 0.95), percentileOf(a.end, 0.95))
	}
	fmt.Println("parts: " + line)
}

// drawnTally is the sum of drawn scenes: each nuisance alone, and twice with somebody walking. They
// are kept beside the clips once they are drawn.
func drawnTally(t testing.TB, dir string, c motion.Config) tally {
	var all tally
	for k, n := range nuisances {
		var one tally
		for i, name := range []string{n, n + "+walker", n + "+walker"} {
			s, err := drawn.New(name, drawn.Options{Width: 320, Height: 180, Rate: realRate,
				Seed: uint64(1000*k + 100 + i), Length: 40 * time.Second})
			require.NoError(t, err)
			f := drawnFilm(t, dir, name, uint64(1000*k+100+i), s)
			e := spansOf(t, f, c)
			if a := scored(drawnPassages(s), e); a.alarms > 0 && *realSpans {
				fmt.Printf("drawn %s seed %d: %.1f\n", name, 1000*k+100+i, e)
			}
			one.add(scored(drawnPassages(s), e))
		}
		if *realSpans {
			fmt.Printf("drawn %s: %s\n", n, &one)
		}
		all.add(one)
	}
	return all
}

// drawnFilm draws a scene, unless that is kept.
func drawnFilm(t testing.TB, dir, name string, seed uint64, s *drawn.Scene) film {
	f := film{width: 320, height: 180}
	kept := filepath.Join(dir, "drawn", fmt.Sprintf("%s-%d", name, seed))
	var err error
	if f.pictures, err = os.ReadFile(kept); err == nil {
		return f
	}
	f.pictures = make([]byte, s.Len()*f.width*f.height)
	for i := range s.Len() {
		s.Luma(i, f.pictures[i*f.width*f.height:(i+1)*f.width*f.height])
	}
	require.NoError(t, os.MkdirAll(filepath.Dir(kept), 0o755))
	require.NoError(t, os.WriteFile(kept, f.pictures, 0o644))
	return f
}

// drawnPassages are the passages of a drawn scene.
func drawnPassages(s *drawn.Scene) []passage {
	var all []passage
	for _, p := range s.Spans() {
		all = append(all, passage{"motion", p.Start.Seconds(), p.End.Seconds()})
	}
	from := -1
	for i := range s.Len() + 1 {
		switch there := i == s.Len() || s.Present(i); {
		case !there && from < 0:
			from = i
		case there && from >= 0:
			all = append(all, passage{"quiet", float64(from) / realRate, float64(i-1) / realRate})
			from = -1
		}
	}
	slices.SortFunc(all, func(a, b passage) int { return int(1000 * (a.start - b.start)) })
	return all
}

// rules are those of the detector.
var rules = []rule{
	{"snowfall", "snowfall.go", "if falling < snowFalls {", "if true {"},
	{"focus", "step.go", "if d.tracks.Scattered && d.blurs(now) {", "if false {"},
	{"bands", "step.go", "if d.bands.Run(d.model.background, newest.cells, d.light.Ground, newest.samples, d.at) {",
		"if false {"},
	{"unlit", "decide.go", "if o.Glared > 0 {", "if false {"},
	{"ghost", "adapt.go", "d.ghosts.lay(d, now)", ""},
	{"shake", "step.go", "d.steady.Run(d.model.background, newest.cells)", ""},
	{"leap", "track/confirm.go", "k.leapt() && !t.Scattered && !t.Flurries()", "false"},
	{"new scene", "step.go", "d.newScene = d.strange(fore, moved)", "_, _ = fore, moved"},
	{"upheaval", "step.go", "upheaval = d.upheaval(solid, fore, moved, now)", ""},
	{"smooth", "smooth.go", "case !d.smooth.on && mean > noisySmooth:", "case false:"},
	{"light", "area/outline.go", "func (o *Outline) Steep() int { return o.Sharp + o.Torn }",
		"func (o *Outline) Steep() int { return 1 << 20 }"},
	{"seems light", "area/area.go",
		"return o.Steep()*o.Steep() < 9*o.Fore || o.Telling() && o.Substance() < LightSubstance", "return false"},
	{"glare", "find.go", "d.glare(i, o, now)", "o.Plain = o.Fore"},
	{"core", "find.go", "d.core(i, o, now) {", "false {"},
	{"solid", "track/confirm.go", "case !k.solid():", "case false:"},
	{"young", "track/confirm.go", "case t.Young && !k.leaves(t.small) && !wanders:", "case false:"},
	{"young looks back", "track/trail.go", "if t.Early && t.change.scene {", "if false {"},
	{"early sways", "track/way.go", "if t.Early && k.sways() {", "if false {"},
	{"travel", "track/confirm.go", "case !k.Travelled() && !wanders && k.loom < loomsSure:", "case false:"},
	{"small", "track/confirm.go", "case small &&", "case false &&"},
	{"middle", "track/confirm.go", "case middle &&", "case false &&"},
	{"middle time", "track/confirm.go", "moved < confirmSmall || k.hurries", "k.hurries"},
	{"hurries", "track/confirm.go", "k.hurries(at) || ", ""},
	{"flaps", "track/confirm.go", "k.flaps() && ", "false && "},
	{"flurry", "track/weather.go", "return t.fall.all > flurry", "return false"},
	{"flake", "track/weather.go", "return cells < t.small && t.Flurries()", "return false"},
	{"wanders", "track/way.go", "return k.strong >= confirmWander &&", "return false &&"},
	{"loom", "track/loom.go", "k.loom += dt", ""},
	{"creep", "track/way.go", "if !creeps || fore == 0 {", "if true {"},
	{"young creep", "track/confirm.go", "case k.creeping && t.Young && k.cells < float64(t.small):", "case false:"},
	{"early presence", "track/presence.go", "if early {", "if false {"},
	{"presence", "track/presence.go", "return p.seen >= presenceFor", "return false"},
	{"entry", "track/confirm.go", "t.entered(k, at)", ""},
	{"trail", "track/confirm.go", "k.begins(k.trail.begin(at, t.back(at, startBack), k.contrast), at, t)",
		"k.begins(k.first, at, t)"},
	{"restless", "adapt.go", "d.habit.learn(d, d.passing(), dt)", ""},
	{"structure", "step.go", "global = d.relight(now, before)", ""},
	{"shadow", "track/step.go", "contrast >= shadowShare*k.contrast ||", "true ||"},
	{"wake", "track/link.go", "box, wake := o.Place(), o.Wake(t.small)", "box, wake := o.Place(), false"},
	{"contrast 4", "config.go", "256 * 6 *", "256 * 4 *"},
	{"learns 0.9 s", "step.go", "learnFor      = 500 * time.Millisecond", "learnFor      = 900 * time.Millisecond"},
}
