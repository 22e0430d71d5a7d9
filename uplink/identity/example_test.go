package identity_test

import (
	"fmt"

	"vmsbridge/uplink/identity"
)

// A list of tokens, as the bridge's configuration has one, and who a request comes from.
func Example() {
	list := identity.NewFixed()
	err := list.Add("a-long-random-token", identity.Principal{
		Name: "lan", AccountID: "acc-1", Scopes: []string{identity.ScopeRead},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := list.Authenticate("a-long-random-token")
	fmt.Println(p.AccountID, p.May(identity.ScopeRead), p.May(identity.ScopeReport), err)
	_, err = list.Authenticate("another token")
	fmt.Println(err)
	// Output:
	// acc-1 true false <nil>
	// the token is not valid
}
