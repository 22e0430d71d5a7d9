package model

import (
	"encoding/json"
	"slices"
	"strings"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/api"
)

// ApplyAccess applies the entries of camera_access of POST /g/user, ['M', device, letters] and
// ['D', device], to the list that a user has. known says whether the account has a device. Errors
// are *api.Error: 400, or 404 for a device to modify that the account does not have.
func ApplyAccess(have Lists, change [][]string, known func(device string) bool) (Lists, error) {
	out := slices.Clone(have)
	for _, e := range change {
		at := slices.IndexFunc(out, func(x []string) bool { return len(x) > 0 && x[0] == e[1] })
		switch {
		case e[0] == "M" && len(e) == 3 && validLetters(e[2]):
			if !known(e[1]) {
				return nil, api.NewError(api.CodeNotFound, "DeviceNotFound",
					"camera_access names a device that the account does not have")
			}
			if at >= 0 {
				out[at] = []string{e[1], e[2]}
			} else {
				out = append(out, []string{e[1], e[2]})
			}
		case e[0] == "D" && len(e) <= 3:
			if at >= 0 {
				out = slices.Delete(out, at, at+1)
			}
		default:
			return nil, api.Badf("camera_access: an entry must look like [\"M\", device, \"RWS\"] or [\"D\", device]")
		}
	}
	return out, nil
}

func validLetters(s string) bool {
	return s != "" && strings.Trim(strings.ToUpper(s), "RWS") == ""
}

// ApplyShares applies camera_shares and camera_share_perms of POST /g/account to an account. known
// says whether the account has a camera, accountOf finds the account of a registered address that
// is known to be its user's own, "" for none. The two come together, as the interface demands.
// Errors are *api.Error.
func ApplyShares(a Account, change [][]string, perms Object, known func(camera string) bool,
	accountOf func(email string) string) (Account, error) {
	given, err := readPerms(perms)
	if err != nil {
		return a, api.Badf("camera_share_perms must be {camera: {recipient: [permission]}}")
	}
	stored, err := readPerms(a.CameraSharePerms)
	if err != nil {
		stored = sharePerms{}
	}
	shares := slices.Clone(a.CameraShares)
	for _, e := range change {
		camera := e[1]
		shares = slices.DeleteFunc(shares, func(x []string) bool { return len(x) > 0 && x[0] == camera })
		delete(stored, camera)
		switch {
		case e[0] == "D" && len(e) == 2:
		case e[0] == "M" && len(e) > 2:
			if !known(camera) {
				return a, api.NewError(api.CodeNotFound, "DeviceNotFound",
					"camera_shares names a camera that the account does not have")
			}
			entry, kept := []string{camera}, map[string][]string{}
			for _, r := range e[2:] {
				full, email, err := recipient(r, accountOf)
				if err != nil {
					return a, err
				}
				entry = append(entry, full)
				if kept[full], err = permsFor(given[camera], r, full, email); err != nil {
					return a, err
				}
			}
			shares, stored[camera] = append(shares, entry), kept
		default:
			return a, api.Badf(`camera_shares: an entry must look like ["M", camera, "email,account"] or ["D", camera]`)
		}
	}
	raw, err := json.Marshal(stored)
	if err != nil {
		return a, err
	}
	a.CameraShares, a.CameraSharePerms = shares, raw
	return a, nil
}

// recipient reads 'email,account' and fills the account in.
func recipient(s string, accountOf func(string) string) (full, email string, err error) {
	email, account, _ := strings.Cut(s, ",")
	email = strings.TrimSpace(email)
	if CheckEmail(email) != nil {
		return "", "", api.Badf("camera_shares: a recipient must look like email,account")
	}
	if account = strings.TrimSpace(account); account == "" {
		account = accountOf(email)
	}
	return email + "," + account, email, nil
}

// permsFor finds the permissions of a recipient under any way of writing it.
func permsFor(given map[string][]string, names ...string) ([]string, error) {
	for _, name := range names {
		for _, p := range given[name] {
			if !slices.Contains(SharePermissions, p) {
				return nil, api.Badf("camera_share_perms: there is no permission %.40q", p)
			}
		}
		if list, ok := given[name]; ok && list != nil {
			return list, nil
		}
	}
	return []string{}, nil
}

// SharedWith lists the cameras of an account that it shares with a user of another one, by
// camera_shares, or as a first responder during an emergency.
func SharedWith(owner Account, u User) []string {
	if owner.ID == u.OwnerAccountID || !owner.Is(StatusActive) {
		return nil
	}
	var out []string
	for _, share := range owner.CameraShares {
		for i, r := range share {
			if i > 0 && named(r, u) {
				out = append(out, share[0])
				break
			}
		}
	}
	if owner.ResponderActive && slices.ContainsFunc(owner.FirstResponders, func(e []string) bool {
		if len(e) == 0 {
			return false
		}
		account := ""
		if len(e) >= 5 {
			account = e[4]
		}
		return is(u, e[0], account)
	}) {
		out = append(out, owner.ResponderCameras...)
	}
	return out
}

// named says whether a recipient 'email,account' is the user.
func named(recipient string, u User) bool {
	email, account, _ := strings.Cut(recipient, ",")
	return is(u, email, account)
}

// is says whether a user is the one meant by an address, and an account or "". Without an account
// whoever has the address is meant, so that the user must have proven to be that.
func is(u User, email, account string) bool {
	return u.Email != "" && Fold(email) == Fold(u.Email) && (account == u.OwnerAccountID || account == "" && u.Proven())
}

// GrantsOf is what a user may see in the account active. home is the user's own account, shared and
// aliases what other accounts share with the user, as Grants has it. Shared cameras, and the
// letters on single devices, come with the user's own account only.
func GrantsOf(u User, home, active Account, shared, aliases map[string]string) *identity.Grants {
	place := PlaceOf(home, active)
	c := CallerOf(u, home)
	g := &identity.Grants{All: c.Admin(place), Edits: bool(u.IsEditAllAndAdd),
		Sets: bool(u.IsEditCameras || u.IsEditCameraLess), Devices: map[string]string{}}
	if place == OwnAccount {
		g.Shared, g.Aliases = shared, aliases
		for _, e := range u.CameraAccess {
			if len(e) == 2 {
				g.Devices[e[0]] = e[1]
			}
		}
	}
	admin := Flag(c.Admin(place))
	u = u.Settled()
	g.Preview, g.Recorded = bool(u.IsPreviewVideo || admin), bool(u.IsRecordedVideo || admin)
	g.Live, g.Export = bool(u.IsLiveVideo || admin), bool(u.IsExportVideo || admin)
	if place != OwnAccount && bool(active.IsVideoDisabled) {
		g.Preview, g.Recorded, g.Live, g.Export = false, false, false, false
	}
	return g
}

// Recipients lists the folded addresses that an account shares cameras with or names as responders,
// each once.
func Recipients(a Account) []string {
	var out []string
	add := func(email string) {
		if email = Fold(email); email != "" && !slices.Contains(out, email) {
			out = append(out, email)
		}
	}
	for _, share := range a.CameraShares {
		for i, r := range share {
			if email, _, _ := strings.Cut(r, ","); i > 0 {
				add(email)
			}
		}
	}
	for _, e := range a.FirstResponders {
		if len(e) > 0 {
			add(e[0])
		}
	}
	return out
}
