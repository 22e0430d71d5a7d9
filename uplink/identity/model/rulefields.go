package model

import (
	"encoding/json"
	"reflect"
)

// MaySetUserField says whether the caller, who may change the target at place p (rights) or is the
// target (self), may set a field of a user. me is the caller's own record: nobody gives a
// permission that they do not have, unless they are an account superuser there. before and after
// are the target's record.
func MaySetUserField(c Caller, p Place, f Field, rights, self bool, me, before, after User) bool {
	if c.Role == Internal {
		return f.Who != ByVerify
	}
	if !rights || self && !c.Admin(p) { // nobody but an administrator manages themselves
		return self && f.Who == Self && !(f.Name == "json" && before.EmployeeID() != after.EmployeeID())
	}
	switch f.Who {
	case Superusers, ByVerify:
		return false
	case Admins:
		return c.Admin(p)
	}
	if !f.Grants || c.Admin(p) {
		return true
	}
	return flagOf(me, f.Name) || flagOf(before, f.Name) || !flagOf(after, f.Name)
}

// flagOf is a flag of a user by its name in the interface.
func flagOf(u User, name string) bool {
	v := reflect.ValueOf(u)
	for i := range v.NumField() {
		if v.Type().Field(i).Tag.Get("json") == name {
			f, ok := v.Field(i).Interface().(Flag)
			return ok && bool(f)
		}
	}
	return false
}

// SharePermissions are the values of camera_share_perms.
var SharePermissions = []string{"edit_motion_areas", "ptz_live", "edit_ptz_stations"}

// sharePerms is camera_share_perms: camera → recipient → permissions.
type sharePerms map[string]map[string][]string

func readPerms(o Object) (sharePerms, error) {
	p := sharePerms{}
	if len(o) == 0 {
		return p, nil
	}
	err := json.Unmarshal(o, &p)
	return p, err
}
