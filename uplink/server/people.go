package server

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// Directory knows users and accounts, and what the rules of users let a principal see of them:
// identity/store.Store.
type Directory interface {
	// People are the users of the account that a principal acts in, oldest first; may is false if
	// the principal may not list them.
	People(p identity.Principal) (list []vms.User, may bool, err error)
	// Person is a user whom a principal may see, ok false if there is none.
	Person(p identity.Principal, id string) (u vms.User, ok bool, err error)
	// TrustedClients are the devices at which the user whom a principal stands for signs in without
	// a code; of a principal that stands for none, none.
	TrustedClients(p identity.Principal) ([]vms.TrustedClient, error)
	// AccountsOf are the accounts that a principal may read.
	AccountsOf(p identity.Principal) ([]vms.Account, error)
	// ChangeSelf changes the user whom a principal stands for, ok false if it stands for none.
	ChangeSelf(p identity.Principal, change vms.UserChange) (problems []vms.Problem, ok bool, err error)
}

// userArgs choose among users.
var userArgs = []string{"id__in", "id__notIn", "firstName__in", "firstName__contains", "lastName__in",
	"lastName__contains", "email__in", "email__contains", "permissions.administrator", "status.loginStatus__in", "q",
	"qRelevance__gte", "locationId__in", "locationId__ne", "sort"}

// accountArgs choose among accounts.
var accountArgs = []string{"id__in", "name", "name__contains", "q", "sort"}

// listUsers is GET /users: those of the account that the token acts in, for whom the rules of users
// let list them.
func (s *Server) listUsers(c *call) error {
	a := c.args
	all, may, err := s.opts.Directory.People(c.principal)
	if err != nil {
		return err
	}
	if !may {
		return vms.NewError(http.StatusForbidden, vms.ReasonPermission,
			"Only a token of a user who administers the account may list its users")
	}
	page, at, err := filtered(s, c, a, "users", all, func(a *args) (func(vms.User) bool, func(x, y vms.User) int) {
		var k checks[vms.User]
		admin, status := a.flag("permissions.administrator"), a.list("status.loginStatus__in")
		k.among(a, "id", func(u vms.User) string { return u.ID }, false)
		k.among(a, "firstName", func(u vms.User) string { return u.FirstName }, true)
		k.among(a, "lastName", func(u vms.User) string { return u.LastName }, true)
		k.among(a, "email", func(u vms.User) string { return u.Email }, true)
		k.words(a, func(u vms.User) string {
			return strings.Join([]string{u.ID, u.FirstName, u.LastName, u.Email}, "\n")
		})
		if a.has("permissions.administrator") {
			k = append(k, func(u vms.User) bool { return u.Permissions.Administrator == admin })
		}
		if a.relevance(); a.has("locationId__in") { // nobody has one
			k = append(k, func(vms.User) bool { return false })
		}
		if a.has("status.loginStatus__in") {
			k = append(k, func(u vms.User) bool { return slices.Contains(status, u.Status.LoginStatus) })
		}
		return k.pass, orderOf(a, orders[vms.User]{
			"firstName": folded(func(u vms.User) string { return u.FirstName }),
			"lastName":  folded(func(u vms.User) string { return u.LastName }),
			"email":     folded(func(u vms.User) string { return u.Email }),
			"createTimestamp": func(x, y vms.User) int {
				return x.CreateTimestamp.Compare(y.CreateTimestamp.Time)
			},
			"loginDetails.lastLogin":    func(x, y vms.User) int { return lastLogin(x).Compare(lastLogin(y)) },
			"status.loginStatus":        folded(func(u vms.User) string { return u.Status.LoginStatus }),
			"permissions.administrator": func(x, y vms.User) int { return cmp.Compare(number(x), number(y)) },
		}, func(x, y vms.User) int { return cmp.Compare(x.ID, y.ID) })
	})
	if err != nil {
		return err
	}
	for i := range page.Results {
		showUser(&page.Results[i], at.Include)
	}
	return c.ok(page)
}

func lastLogin(u vms.User) (t time.Time) {
	if u.LoginDetails.LastLogin != nil {
		t = u.LoginDetails.LastLogin.Time
	}
	return t
}

func number(u vms.User) int {
	if u.Permissions.Administrator {
		return 1
	}
	return 0
}

// getUser is GET /users/{id}. A user whom the caller may not see is as little found as one that
// does not exist.
func (s *Server) getUser(c *call) error {
	a := c.args
	include := a.list("include")
	if err := a.err(); err != nil {
		return err
	}
	id := c.r.PathValue("id")
	u, ok, err := s.opts.Directory.Person(c.principal, id)
	if err != nil {
		return err
	}
	if !ok {
		return vms.NotFound("users", "", id)
	}
	showUser(&u, include)
	return c.ok(u)
}

// getSelf is GET /users/self: whom the token stands for. What a token that stands for no user may
// do are its permissions.
func (s *Server) getSelf(c *call) error {
	a := c.args
	include := a.list("include")
	if err := a.err(); err != nil {
		return err
	}
	user, known := c.principal.User, false
	if s.opts.Directory != nil && c.principal.Grants != nil {
		u, ok, err := s.opts.Directory.Person(c.principal, user.ID)
		if err != nil {
			return err
		}
		if known = ok; known {
			user = u
		}
	}
	if !known {
		if user.TimeZone == nil {
			user.TimeZone = &vms.TimeZone{TimeZone: "UTC"}
		}
		user.Status = &vms.LoginStatus{LoginStatus: vms.LoginActive}
		user.Permissions = permissions(c.principal)
	}
	showUser(&user, include)
	return c.ok(user)
}

func permissions(p identity.Principal) *vms.UserPermissions {
	g := p.Grants
	return &vms.UserPermissions{ViewPreviewVideo: p.Views(vms.ImagePreview), ViewHistoricVideo: p.Views(vms.ImageMain),
		ViewLiveVideo: g == nil || g.Live, DownloadVideo: g == nil || g.Export,
		EditNoBillingDeviceSettings: p.May(identity.ScopeAll) && (g == nil || g.Sets || g.Edits)}
}

// showUser leaves on a user what was asked for.
func showUser(u *vms.User, include []string) {
	for name, drop := range map[string]func(){
		"timeZone": func() { u.TimeZone = nil }, "status": func() { u.Status = nil },
		"loginDetails": func() { u.LoginDetails = nil }, "contactDetails": func() { u.ContactDetails = nil },
		"permissions": func() { u.Permissions = nil }, "previewSettings": func() { u.PreviewSettings = nil },
		"timeSettings": func() { u.TimeSettings = nil }, "effectivePermissions": func() {
			u.EffectivePermissions = nil
		},
	} {
		if !slices.Contains(include, name) {
			drop()
		}
	}
}

// changeSelf is PATCH /users/self: what users say of themselves. What signs them in, and what they
// may do, is changed by /g.
func (s *Server) changeSelf(c *call) error {
	body, err := readJSON(c, maxBodyBytes)
	if err != nil {
		return err
	}
	change, problems := vms.ParseUserChange(body)
	if e := vms.BadRequest(problems); e != nil {
		return e
	}
	problems, ok, err := s.opts.Directory.ChangeSelf(c.principal, change)
	if e := vms.BadRequest(problems); err == nil && e != nil {
		return e
	}
	if err != nil {
		return err
	}
	if !ok {
		return vms.NewError(http.StatusForbidden, vms.ReasonPermission,
			"This token stands for no user who could be changed; sign in as one")
	}
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}

// listTrustedClients is GET /users/self/trustedClients.
func (s *Server) listTrustedClients(c *call) error {
	a := c.args
	all, err := s.opts.Directory.TrustedClients(c.principal)
	if err != nil {
		return err
	}
	page, _, err := pageOf(s, c, a, "trustedClients", all)
	if err != nil {
		return err
	}
	return c.ok(page)
}

// accountSelf stands for the account that the token acts in.
const accountSelf = "self"

// listAccounts is GET /accounts: those that the caller may read.
func (s *Server) listAccounts(c *call) error {
	a := c.args
	all, err := s.opts.Directory.AccountsOf(c.principal)
	if err != nil {
		return err
	}
	page, at, err := filtered(s, c, a, "accounts", all,
		func(a *args) (func(vms.Account) bool, func(x, y vms.Account) int) {
			var k checks[vms.Account]
			k.among(a, "id", func(x vms.Account) string { return x.ID }, false)
			k.among(a, "name", func(x vms.Account) string { return x.Name }, true)
			k.words(a, func(x vms.Account) string { return x.ID + "\n" + x.Name + "\n" + x.CustomerID })
			return k.pass, orderOf(a, orders[vms.Account]{"name": folded(func(x vms.Account) string { return x.Name })},
				func(x, y vms.Account) int { return cmp.Compare(x.ID, y.ID) })
		})
	if err != nil {
		return err
	}
	for i := range page.Results {
		s.showAccount(&page.Results[i], at.Include)
	}
	return c.ok(page)
}

// getAccount is GET /accounts/{id}, and /accounts/self.
func (s *Server) getAccount(c *call) error {
	a := c.args
	include := a.list("include")
	if err := a.err(); err != nil {
		return err
	}
	id := c.r.PathValue("id")
	wanted := id
	if id == accountSelf {
		wanted = c.principal.AccountID
	}
	all, err := s.opts.Directory.AccountsOf(c.principal)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(all, func(x vms.Account) bool { return x.ID == wanted })
	if at < 0 {
		return vms.NotFound("accounts", "", id)
	}
	s.showAccount(&all[at], include)
	return c.ok(all[at])
}

// showAccount leaves on an account what was asked for, and counts its devices.
func (s *Server) showAccount(x *vms.Account, include []string) {
	want := func(name string) bool { return slices.Contains(include, name) }
	for name, drop := range map[string]func(){
		"timeZone": func() { x.TimeZone = nil }, "workingHours": func() { x.WorkingHours = nil },
		"security": func() { x.Security = nil }, "brandingInfo": func() { x.BrandingInfo = nil },
		"effectivePermissions": func() { x.EffectivePermissions = nil }, "resourceCounts": func() {
			x.ResourceCounts = nil
		},
	} {
		if !want(name) {
			drop()
		}
	}
	if x.ResourceCounts == nil {
		return
	}
	x.ResourceCounts.Cameras = len(s.opts.Cameras.CameraIDs(x.ID, ""))
	if known, ok := s.opts.Cameras.(BridgeSource); ok {
		x.ResourceCounts.Bridges = len(known.BridgeIDs(x.ID))
	}
}
