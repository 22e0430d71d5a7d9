package session_test

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/session"
	"vmsbridge/uplink/identity/store"
)

// open makes a store in dir with the active user anna@example.org.
func open(dir string, hasher *identity.Hasher) (*store.Store, error) {
	ids, err := store.Open(filepath.Join(dir, "identity.db"), store.Options{Volatile: true})
	if err != nil {
		return nil, err
	}
	a := model.NewAccount()
	a.ID, a.Status = "acc", model.Texts{model.StatusActive}
	if _, err := ids.CreateAccount(a); err != nil {
		return nil, err
	}
	u := model.NewUser()
	u.Email, u.OwnerAccountID, u.IsActive, u.IsPending = "anna@example.org", "acc", true, false
	if u.Inner.PasswordHash, err = hasher.Hash(context.Background(), "correct horse 1"); err != nil {
		return nil, err
	}
	_, err = ids.CreateUser(u)
	return ids, err
}

// The two steps of a sign-in, and a request after it.
func Example() {
	dir, err := os.MkdirTemp("", "session")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	hasher := identity.NewHasher(identity.Cost{MemoryKiB: 64, Passes: 1, Lanes: 1}, 1)
	ids, err := open(dir, hasher)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer ids.Close()
	from := netip.MustParseAddr("192.0.2.1")
	sessions := session.New(session.Options{Store: ids, Hasher: hasher})

	login := session.Login{Email: "anna@example.org", Password: "wrong horse 1", From: from}
	_, err = sessions.Authenticate(context.Background(), login)
	fmt.Println(err)
	login.Password = "correct horse 1"
	ticket, err := sessions.Authenticate(context.Background(), login)
	if err != nil {
		fmt.Println(err)
		return
	}
	opened, err := sessions.Authorize(context.Background(), session.Claim{Token: ticket.Token, From: from})
	if err != nil {
		fmt.Println(err)
		return
	}
	caller, err := sessions.Caller(opened.Key, from)
	fmt.Println(caller.User.Email, caller.Home.ID, err)
	// Output:
	// 401 InvalidCredentials: the address or the password is wrong
	// anna@example.org acc <nil>
}
