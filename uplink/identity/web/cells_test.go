package web

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
)

// cells is which test saw which answer of which endpoint: the table that the interface's lists must
// fill.
var cells = struct {
	sync.Mutex
	seen map[string]map[int]string
}{seen: map[string]map[int]string{}}

// saw notes an answer.
func saw(what string, code int, test string) {
	what, _, _ = strings.Cut(what, "?")
	cells.Lock()
	defer cells.Unlock()
	if cells.seen[what] == nil {
		cells.seen[what] = map[int]string{}
	}
	if cells.seen[what][code] == "" {
		cells.seen[what][code] = test
	}
}

// missing lists the cells that the interface fills and no test has seen, and the answers that were
// seen and that neither the interface nor Beyond lists.
func missing() (out []string) {
	for _, e := range Endpoints {
		for _, code := range e.Codes {
			if cells.seen[e.String()][code] == "" {
				out = append(out, fmt.Sprintf("no test has seen %s answer %d", e, code))
			}
		}
		for code, test := range cells.seen[e.String()] {
			if !slices.Contains(e.Codes, code) && !slices.Contains(Beyond, code) {
				out = append(out, fmt.Sprintf("%s answers %d in %s, which is not listed", e, code, test))
			}
		}
	}
	return out
}

var printCells = flag.Bool("cells", false, "print the table of endpoints, status codes and tests")

// table prints the cells as Markdown.
func table() {
	fmt.Println("| endpoint | status | test |\n|---|---|---|")
	for _, e := range Endpoints {
		for _, code := range e.Codes {
			fmt.Printf("| %s | %d | %s |\n", e, code, cells.seen[e.String()][code])
		}
	}
}

// TestMain lets the package fail when a documented cell has no test. It cannot know when only some
// tests ran.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	for _, name := range []string{"test.run", "test.skip", "test.fuzz", "test.list", "test.bench"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			os.Exit(code)
		}
	}
	if *printCells {
		table()
	}
	if list := missing(); len(list) > 0 {
		slices.Sort(list)
		fmt.Println("FAIL: the table of endpoints and status codes:\n\t" + strings.Join(list, "\n\t"))
		code = 1
	}
	os.Exit(code)
}
