package locks

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// function is what is known of one.
type function struct {
	name  string
	calls []call
	waits string // why it may block; "" if it does not
	// inside are the calls and waits that happen while locks are held.
	inside  []event
	recvHas map[string]bool // method names of the receiver's type
	sig     string          // parameters and results
}

// call is one of a function, by name, or of an interface's method by the method names of that
// interface.
type call struct {
	name   string
	method string
	sig    string   // the method's parameters and results
	of     []string // all methods of the interface; nil: a plain call
}

// event is a call or a wait while locks are held.
type event struct {
	held []string
	pos  token.Pos
	call *call
	what string // a wait of its own
}

// reader reads one function.
type reader struct {
	p    *Program
	path string
	info *types.Info
	fn   *function
}

// read takes a function of a package in.
func (p *Program) read(path string, info *types.Info, decl *ast.FuncDecl) {
	fn := &function{name: path + "." + decl.Name.Name}
	if obj, ok := info.Defs[decl.Name].(*types.Func); ok {
		fn.name = obj.FullName()
		if recv := obj.Type().(*types.Signature).Recv(); recv != nil {
			fn.recvHas, fn.sig = methodsOf(recv.Type()), signature(obj)
			p.methods[decl.Name.Name] = append(p.methods[decl.Name.Name], fn)
		}
	}
	p.funcs[fn.name] = fn
	r := &reader{p, path, info, fn}
	r.block(decl.Body.List, r.heldAtStart(decl.Body))
}

// signature is a function's parameters and results, without names and receiver.
func signature(f *types.Func) string {
	s := f.Type().(*types.Signature)
	full := func(p *types.Package) string { return p.Path() }
	list := func(t *types.Tuple) (out string) {
		for v := range t.Variables() {
			out += types.TypeString(v.Type(), full) + ","
		}
		return out
	}
	return list(s.Params()) + ">" + list(s.Results())
}

func methodsOf(t types.Type) map[string]bool {
	set := types.NewMethodSet(t)
	if _, ok := t.(*types.Pointer); !ok {
		set = types.NewMethodSet(types.NewPointer(t))
	}
	has := map[string]bool{}
	for m := range set.Methods() {
		has[m.Obj().Name()] = true
	}
	return has
}

// heldAtStart are the locks that a function lets go of before it takes them: its caller, or what it
// calls, took them.
func (r *reader) heldAtStart(body *ast.BlockStmt) map[string]bool {
	held, seen := map[string]bool{}, map[string]bool{}
	ast.Inspect(body, func(n ast.Node) bool {
		if _, inner := n.(*ast.FuncLit); inner {
			return false
		}
		if c, ok := n.(*ast.CallExpr); ok {
			if key, op := r.lockOp(c); key != "" && !seen[key] {
				seen[key] = true
				if strings.HasSuffix(op, "Unlock") {
					held[key] = true
				}
			}
		}
		return true
	})
	return held
}

// lockOp says which lock a call takes or lets go of, "" if none.
func (r *reader) lockOp(c *ast.CallExpr) (key, op string) {
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	fn, ok := r.info.Uses[sel.Sel].(*types.Func)
	if !ok || fn.Pkg() == nil || fn.Pkg().Path() != "sync" {
		return "", ""
	}
	switch fn.FullName() {
	case "(*sync.Mutex).Lock", "(*sync.Mutex).Unlock", "(*sync.RWMutex).Lock", "(*sync.RWMutex).Unlock",
		"(*sync.RWMutex).RLock", "(*sync.RWMutex).RUnlock",
		"(sync.Locker).Lock", "(sync.Locker).Unlock":
		return r.lockName(sel.X), fn.Name()
	}
	return "", ""
}

// lockName names a lock by the type that it is a field of.
func (r *reader) lockName(x ast.Expr) string {
	short := func(path string) string { return strings.TrimPrefix(path, r.p.module+"/") }
	switch x := x.(type) {
	case *ast.SelectorExpr:
		if t := r.info.Types[x.X].Type; t != nil {
			if ptr, ok := t.Underlying().(*types.Pointer); ok {
				t = ptr.Elem()
			}
			if named, ok := types.Unalias(t).(*types.Named); ok && named.Obj().Pkg() != nil {
				return short(named.Obj().Pkg().Path()) + "." + named.Obj().Name() + "." + x.Sel.Name
			}
		}
		return short(r.path) + "." + x.Sel.Name
	case *ast.Ident:
		return short(r.path) + "." + x.Name
	case *ast.UnaryExpr:
		return r.lockName(x.X)
	}
	return short(r.path) + ".?"
}

// block reads statements, and returns the locks held after them, and whether the last of them never
// goes on.
func (r *reader) block(list []ast.Stmt, held map[string]bool) (after map[string]bool, ends bool) {
	for _, s := range list {
		if held, ends = r.stmt(s, held); ends {
			return held, true
		}
	}
	return held, false
}

// merge is what is held after one of several branches.
func merge(outs ...map[string]bool) map[string]bool {
	all := map[string]bool{}
	for _, o := range outs {
		maps.Copy(all, o)
	}
	return all
}

func (r *reader) stmt(s ast.Stmt, held map[string]bool) (after map[string]bool, ends bool) {
	switch s := s.(type) {
	case nil:
	case *ast.BlockStmt:
		return r.block(s.List, held)
	case *ast.LabeledStmt:
		return r.stmt(s.Stmt, held)
	case *ast.ExprStmt:
		if c, ok := s.X.(*ast.CallExpr); ok {
			if key, op := r.lockOp(c); key != "" {
				held = maps.Clone(held)
				if strings.HasSuffix(op, "Unlock") {
					delete(held, key)
				} else {
					held[key] = true
				}
				return held, false
			}
			if id, ok := c.Fun.(*ast.Ident); ok && id.Name == "panic" {
				return held, true
			}
		}
		r.expr(s.X, held)
	case *ast.DeferStmt:
		if key, _ := r.lockOp(s.Call); key == "" {
			r.expr(s.Call, held)
		}
	case *ast.GoStmt:
		for _, a := range s.Call.Args {
			r.expr(a, held)
		}
		if lit, ok := s.Call.Fun.(*ast.FuncLit); ok {
			r.apart(lit)
		}
	case *ast.IfStmt:
		held, _ = r.stmt(s.Init, held)
		r.expr(s.Cond, held)
		yes, yesEnds := r.block(s.Body.List, maps.Clone(held))
		no, noEnds := held, false
		if s.Else != nil {
			no, noEnds = r.stmt(s.Else, maps.Clone(held))
		}
		switch {
		case yesEnds && noEnds:
			return merge(yes, no), true
		case yesEnds:
			return no, false
		case noEnds:
			return yes, false
		}
		return merge(yes, no), false
	case *ast.ForStmt:
		held, _ = r.stmt(s.Init, held)
		r.expr(s.Cond, held)
		body, bodyEnds := r.block(s.Body.List, maps.Clone(held))
		_, _ = r.stmt(s.Post, body)
		if bodyEnds {
			return held, false
		}
		if s.Cond == nil {
			return body, false
		}
		return merge(held, body), false
	case *ast.RangeStmt:
		r.expr(s.X, held)
		if t := r.info.Types[s.X].Type; t != nil {
			if _, ok := t.Underlying().(*types.Chan); ok {
				r.wait("receives from a channel", s.Pos(), held)
			}
		}
		body, bodyEnds := r.block(s.Body.List, maps.Clone(held))
		if bodyEnds {
			return held, false
		}
		return merge(held, body), false
	case *ast.SwitchStmt:
		held, _ = r.stmt(s.Init, held)
		r.expr(s.Tag, held)
		return r.clauses(s.Body.List, held)
	case *ast.TypeSwitchStmt:
		held, _ = r.stmt(s.Init, held)
		_, _ = r.stmt(s.Assign, held)
		return r.clauses(s.Body.List, held)
	case *ast.SelectStmt:
		if !slices.ContainsFunc(s.Body.List, func(c ast.Stmt) bool { return c.(*ast.CommClause).Comm == nil }) {
			r.wait("waits in a select", s.Pos(), held)
		}
		return r.clauses(s.Body.List, held)
	case *ast.ReturnStmt:
		for _, e := range s.Results {
			r.expr(e, held)
		}
		return held, true
	case *ast.BranchStmt:
		return held, true
	case *ast.SendStmt:
		r.expr(s.Value, held)
		r.wait("sends to a channel", s.Pos(), held)
	case *ast.AssignStmt:
		for _, e := range s.Rhs {
			if lit, ok := e.(*ast.FuncLit); ok {
				r.apart(lit)
				continue
			}
			r.expr(e, held)
		}
	default:
		ast.Inspect(s, func(n ast.Node) bool {
			if e, ok := n.(ast.Expr); ok {
				r.expr(e, held)
				return false
			}
			return true
		})
	}
	return held, false
}

// clauses reads those of a switch or a select.
func (r *reader) clauses(list []ast.Stmt, held map[string]bool) (map[string]bool, bool) {
	outs, all, otherwise := []map[string]bool{}, true, false
	for _, c := range list {
		var body []ast.Stmt
		switch c := c.(type) {
		case *ast.CaseClause:
			for _, e := range c.List {
				r.expr(e, held)
			}
			body, otherwise = c.Body, otherwise || c.List == nil
		case *ast.CommClause:
			body, otherwise = c.Body, true
		}
		out, ends := r.block(body, maps.Clone(held))
		if last := len(body) - 1; ends && last >= 0 {
			if b, ok := body[last].(*ast.BranchStmt); ok && b.Tok == token.BREAK && b.Label == nil {
				ends = false
			}
		}
		if !ends {
			outs = append(outs, out)
		}
		all = all && ends
	}
	if !otherwise {
		outs, all = append(outs, held), false
	}
	if len(outs) == 0 {
		return held, all && len(list) > 0
	}
	return merge(outs...), false
}

// apart reads a function literal that runs at another time.
func (r *reader) apart(lit *ast.FuncLit) {
	inner := *r
	inner.fn = &function{name: r.fn.name + "$"}
	r.p.funcs[r.p.place(lit.Pos())] = inner.fn
	inner.block(lit.Body.List, inner.heldAtStart(lit.Body))
}

// expr reads the calls of an expression.
func (r *reader) expr(e ast.Expr, held map[string]bool) {
	if e == nil {
		return
	}
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit: // one that is handed to a call runs in it
			r.block(n.Body.List, maps.Clone(held))
			return false
		case *ast.CompositeLit:
			for _, el := range n.Elts {
				if kv, ok := el.(*ast.KeyValueExpr); ok {
					el = kv.Value
				}
				if lit, ok := el.(*ast.FuncLit); ok {
					r.apart(lit)
					continue
				}
				r.expr(el, held)
			}
			return false
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				r.wait("receives from a channel", n.Pos(), held)
			}
		case *ast.CallExpr:
			r.called(n, held)
		}
		return true
	})
}

// called notes a call.
func (r *reader) called(c *ast.CallExpr, held map[string]bool) {
	fun := ast.Unparen(c.Fun)
	if ix, ok := fun.(*ast.IndexExpr); ok {
		fun = ix.X
	}
	var id *ast.Ident
	switch f := fun.(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return
	}
	switch obj := r.info.Uses[id].(type) {
	case *types.Func:
		obj = obj.Origin()
		name := obj.FullName()
		if harmless.MatchString(name) {
			return
		}
		if blocking.MatchString(name) {
			r.wait("calls "+name, c.Pos(), held)
			return
		}
		if obj.Pkg() == nil || obj.Pkg().Path() != r.p.module && !strings.HasPrefix(obj.Pkg().Path(), r.p.module+"/") {
			return
		}
		made := call{name: name, method: obj.Name()}
		if recv := obj.Type().(*types.Signature).Recv(); recv != nil {
			if face, ok := recv.Type().Underlying().(*types.Interface); ok {
				made.sig = signature(obj)
				for m := range face.Methods() {
					made.of = append(made.of, m.Name())
				}
			}
		}
		r.fn.calls = append(r.fn.calls, made)
		if len(held) > 0 {
			r.fn.inside = append(r.fn.inside, event{held: slices.Sorted(maps.Keys(held)), pos: c.Pos(), call: &made})
		}
	case *types.Var:
		switch {
		case !isFunc(obj.Type()) || clocks.MatchString(obj.Name()):
		case obj.IsField(): // it belongs to another part
			r.wait("calls the function "+obj.Name()+", which is another part's", c.Pos(), held)
		case len(held) > 0: // only who gave it knows what it does
			r.fn.inside = append(r.fn.inside, event{held: slices.Sorted(maps.Keys(held)), pos: c.Pos(),
				what: "calls the function " + obj.Name() + ", which it was given"})
		}
	}
}

// wait notes that the function may block here.
func (r *reader) wait(what string, pos token.Pos, held map[string]bool) {
	if r.fn.waits == "" {
		r.fn.waits = what + " at " + r.p.place(pos)
	}
	if len(held) > 0 {
		r.fn.inside = append(r.fn.inside, event{held: slices.Sorted(maps.Keys(held)), pos: pos, what: what})
	}
}
