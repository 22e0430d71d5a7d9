package server

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"vmsbridge/uplink/vms"
)

// deviceArgs choose among cameras and bridges, and order them. Names, tags and words of q are
// compared whatever their case; a status that there is none of matches nothing.
var deviceArgs = []string{"id__in", "id__notIn", "id__contains", "name", "name__in", "name__contains", "q",
	"qRelevance__gte", "status__in",
	"status__ne", "tags__any", "tags__contains", "locationId__in", "sort"}

// cameraArgs choose among cameras.
var cameraArgs = slices.Concat(deviceArgs, []string{"bridgeId__in", "shareDetails.shared", "shareDetails.accountId",
	"shareDetails.firstResponder",
	"deviceInfo.directToCloud", "layoutId", "multiCameraId", "multiCameraId__in", "multiCameraId__ne", "speakerId__in",
	"packages__contains",
	"enabledAnalytics__contains"})

// absent are arguments that choose by what no device has here, such as a location: nothing is of
// any.
var absent = []string{"locationId__in", "layoutId", "multiCameraId", "multiCameraId__in", "speakerId__in",
	"packages__contains",
	"enabledAnalytics__contains"}

// pageArgs are those of every list that has pages.
var pageArgs = []string{"include", "pageSize", "pageToken"}

// device is what arguments choose by.
type device struct {
	id, name, bridge, status, notes string
	account                         string
	tags                            []string
	created                         time.Time
	shared                          bool
}

// choice reads the arguments of a list of devices: what passes, in which order, and of which ids
// alone, nil for any. look is false where ids alone say what passes. The arguments are checked
// after that.
func choice(a *args) (pass func(device) bool, order func(x, y device) int, ids []string, look bool) {
	var k checks[device]
	add := func(name string, f func(device) bool) {
		if a.has(name) {
			k = append(k, f)
		}
	}
	if ids = a.list("id__in"); a.has("id__in") && ids == nil {
		ids = []string{}
	}
	not, part := a.list("id__notIn"), strings.ToLower(a.one("id__contains"))
	add("id__notIn", func(d device) bool { return !slices.Contains(not, d.id) })
	add("id__contains", func(d device) bool { return strings.Contains(strings.ToLower(d.id), part) })
	k.among(a, "name", func(d device) string { return d.name }, true)
	k.words(a, func(d device) string {
		return strings.Join([]string{d.id, d.name, d.bridge, d.notes, strings.Join(d.tags, "\n")}, "\n")
	})
	in, ne := a.list("status__in"), a.list("status__ne")
	add("status__in", func(d device) bool { return slices.Contains(in, d.status) })
	add("status__ne", func(d device) bool { return !slices.Contains(ne, d.status) })
	has := func(d device) func(string) bool {
		return func(tag string) bool {
			return slices.ContainsFunc(d.tags, func(t string) bool { return strings.EqualFold(t, tag) })
		}
	}
	anyOf, allOf := a.list("tags__any"), a.list("tags__contains")
	add("tags__any", func(d device) bool { return slices.ContainsFunc(anyOf, has(d)) })
	add("tags__contains", func(d device) bool {
		return !slices.ContainsFunc(allOf, func(tag string) bool { return !has(d)(tag) })
	})
	bridges := a.list("bridgeId__in")
	add("bridgeId__in", func(d device) bool { return slices.Contains(bridges, d.bridge) })
	shared := a.flag("shareDetails.shared")
	add("shareDetails.shared", func(d device) bool { return d.shared == shared })
	for _, name := range absent {
		add(name, func(device) bool { return false })
	}
	for _, name := range []string{"shareDetails.firstResponder", "deviceInfo.directToCloud"} { // none is
		wanted := a.flag(name)
		add(name, func(device) bool { return !wanted })
	}
	account := a.one("shareDetails.accountId")
	add("shareDetails.accountId", func(d device) bool { return d.account == account })
	a.relevance()
	order = orderOf(a, orders[device]{
		"name":            folded(func(d device) string { return d.name }),
		"id":              func(_, _ device) int { return 0 },
		"createTimestamp": func(x, y device) int { return x.created.Compare(y.created) },
	}, func(x, y device) int { return cmp.Compare(x.id, y.id) })
	return k.pass, order, ids, len(k) > 0 || order != nil
}

// flag is the argument as true or false.
func (a *args) flag(name string) bool {
	switch v := a.one(name); v {
	case "", "false":
		return false
	case "true":
		return true
	}
	a.bad(name, "must be true or false")
	return false
}

// relevance checks the argument qRelevance__gte. What has all the words of q is as relevant as can
// be, so it leaves nothing out.
func (a *args) relevance() {
	if v := a.one("qRelevance__gte"); v != "" {
		if _, err := strconv.ParseFloat(v, 64); err != nil {
			a.bad("qRelevance__gte", "must be a number")
		}
	}
}

// orders are those of a kind of thing by name of the field.
type orders[T any] map[string]func(x, y T) int

// orderOf is what the argument sort says, nil if there is none. What is equal by it is ordered by
// last.
func orderOf[T any](a *args, known orders[T], last func(x, y T) int) func(x, y T) int {
	v := a.one("sort")
	if v == "" {
		return nil
	}
	field := strings.TrimLeft(v, "+- ") // an unescaped + arrives as a space
	by, ok := known[field]
	if !ok {
		names := make([]string, 0, len(known))
		for name := range known {
			names = append(names, name)
		}
		slices.Sort(names)
		a.bad("sort", "must be one of "+strings.Join(names, ", ")+" behind + or -")
		return nil
	}
	if v[0] == '-' {
		return func(x, y T) int { return cmp.Or(by(y, x), last(y, x)) }
	}
	return func(x, y T) int { return cmp.Or(by(x, y), last(x, y)) }
}

// chooseFrom cuts the page of a list of devices that the arguments ask for. ids are those that the
// caller sees, in order; see finds one of them, ok false if it went a moment ago. Where nothing is
// chosen, only the page is looked at.
func chooseFrom[T any](s *Server, c *call, a *args, purpose string, ids []string, see func(id string) (T, bool),
	known func(T) device) (vms.PageOf[T], offsetToken, error) {
	var none vms.PageOf[T]
	at, err := placeOf(s, c, a, purpose)
	if err != nil {
		return none, at, err
	}
	pass, order, only, look := choice(a)
	if err := a.err(); err != nil {
		return none, at, err
	}
	if only != nil {
		slices.Sort(only)
		only = slices.DeleteFunc(slices.Compact(only), func(id string) bool {
			_, there := slices.BinarySearch(ids, id)
			return !there
		})
		ids = only
	}
	if look {
		if ids, err = passing(c, ids, see, known, pass, order); err != nil {
			return none, at, err
		}
	}
	page, err := pageAt(s, c, purpose, at, ids)
	if err != nil {
		return none, at, err
	}
	found := make([]T, 0, len(page.Results))
	for _, id := range page.Results {
		if d, ok := see(id); ok {
			found = append(found, d)
		}
	}
	return vms.MakePage(found, page.NextPageToken, page.PrevPageToken, page.TotalSize), at, nil
}

// passing are the ids of those devices that pass, in their order.
func passing[T any](c *call, ids []string, see func(id string) (T, bool), known func(T) device, pass func(device) bool,
	order func(x, y device) int) ([]string, error) {
	var list []device
	for i, id := range ids {
		if i%1024 == 0 && c.r.Context().Err() != nil {
			return nil, c.r.Context().Err() // nobody waits for it any more
		}
		if seen, ok := see(id); ok {
			if d := known(seen); pass(d) {
				list = append(list, d)
			}
		}
	}
	if order != nil {
		slices.SortFunc(list, order)
	}
	out := make([]string, len(list))
	for i, d := range list {
		out[i] = d.id
	}
	return out, nil
}

// checks are what a record must pass.
type checks[T any] []func(T) bool

func (k checks[T]) pass(one T) bool {
	return !slices.ContainsFunc(k, func(f func(T) bool) bool { return !f(one) })
}

// among adds what the arguments name, name__in, name__notIn and name__contains say of a text,
// whatever its case if fold.
func (k *checks[T]) among(a *args, name string, text func(T) string, fold bool) {
	same := func(s string) string { return s }
	if fold {
		same = strings.ToLower
	}
	is := func(list []string, one T) bool {
		return slices.ContainsFunc(list, func(want string) bool { return same(want) == same(text(one)) })
	}
	exact, in, not := a.values[name], a.list(name+"__in"), a.list(name+"__notIn")
	part := strings.ToLower(a.one(name + "__contains"))
	for arg, f := range map[string]func(T) bool{
		name: func(one T) bool { return is(exact, one) }, name + "__in": func(one T) bool { return is(in, one) },
		name + "__notIn":    func(one T) bool { return !is(not, one) },
		name + "__contains": func(one T) bool { return strings.Contains(strings.ToLower(text(one)), part) },
	} {
		if a.has(arg) {
			*k = append(*k, f)
		}
	}
}

// words adds what the argument q says: each of its words must be in the text.
func (k *checks[T]) words(a *args, text func(T) string) {
	for _, w := range strings.Fields(strings.ToLower(a.one("q"))) {
		*k = append(*k, func(one T) bool { return strings.Contains(strings.ToLower(text(one)), w) })
	}
}

// folded orders by a text, whatever its case.
func folded[T any](text func(T) string) func(x, y T) int {
	return func(x, y T) int { return cmp.Compare(strings.ToLower(text(x)), strings.ToLower(text(y))) }
}

// filtered cuts the page out of a whole list of which the arguments choose.
func filtered[T any](s *Server, c *call, a *args, purpose string, all []T,
	choose func(*args) (func(T) bool, func(x, y T) int)) (vms.PageOf[T], offsetToken, error) {
	at, err := placeOf(s, c, a, purpose)
	if err != nil {
		return vms.PageOf[T]{}, at, err
	}
	pass, order := choose(a)
	if err := a.err(); err != nil {
		return vms.PageOf[T]{}, at, err
	}
	list := slices.DeleteFunc(slices.Clone(all), func(one T) bool { return !pass(one) })
	if order != nil {
		slices.SortStableFunc(list, order)
	}
	page, err := pageAt(s, c, purpose, at, list)
	return page, at, err
}
