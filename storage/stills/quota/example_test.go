package quota_test

import (
	"fmt"
	"time"

	"vmsbridge/storage/stills/form"
	"vmsbridge/storage/stills/quota"
)

// One camera of five stores more than its share of a day at once.
func ExampleAccounts() {
	accounts := quota.New(4<<30, 16<<20, 5)
	fmt.Println(accounts.Lane("gate", 100<<10, time.Minute) == form.Quiet)
	for range 5000 {
		accounts.Lane("yard", 1<<20, time.Minute)
	}
	fmt.Println(accounts.Lane("yard", 1<<20, time.Minute) == form.Quiet)
	// Output:
	// true
	// false
}
