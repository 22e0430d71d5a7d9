package locks

import (
	"cmp"
	"fmt"
	"slices"
)

// Finding is a lock that is held where something may block.
type Finding struct {
	Lock  string // package.Type.field
	Place string // file:line
	What  string // happens there
}

// String is for a person.
func (f Finding) String() string { return fmt.Sprintf("%s: %s is held: %s", f.Place, f.Lock, f.What) }

// targets are the functions that a call may lead to.
func (p *Program) targets(c call) (list []*function) {
	if c.of == nil {
		if f := p.funcs[c.name]; f != nil {
			list = append(list, f)
		}
		return list
	}
	for _, f := range p.methods[c.method] {
		if f.sig == c.sig && !slices.ContainsFunc(c.of, func(m string) bool { return !f.recvHas[m] }) {
			list = append(list, f)
		}
	}
	return list
}

// spread says of each function that calls one which may block that it may block, too.
func (p *Program) spread() {
	for again := true; again; {
		again = false
		for _, f := range p.funcs {
			if f.waits != "" {
				continue
			}
			for _, c := range f.calls {
				if why := p.why(c); why != "" {
					f.waits, again = why, true
					break
				}
			}
		}
	}
}

// why says why a call may block, "" if it does not.
func (p *Program) why(c call) string {
	for _, t := range p.targets(c) {
		if t.waits != "" {
			return t.waits
		}
	}
	return ""
}

// Find is all places where a lock is held and something may block, in the order of the locks.
func (p *Program) Find() (list []Finding) {
	for _, f := range p.funcs {
		for _, e := range f.inside {
			what := e.what
			if e.call != nil {
				why := p.why(*e.call)
				if why == "" {
					continue
				}
				what = "calls " + e.call.name + ", which " + why
			}
			for _, lock := range e.held {
				list = append(list, Finding{lock, p.place(e.pos), what})
			}
		}
	}
	slices.SortFunc(list, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Lock, b.Lock), cmp.Compare(a.Place, b.Place), cmp.Compare(a.What, b.What))
	})
	return slices.Compact(list)
}
