package main

import (
	"vmsbridge/cmd/vmscloud/registry"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
)

// limitFlags bound what one account may have.
type limitFlags struct {
	AccountCameras int  `help:"Cameras that an account may have, if its camera_quantity does not say; 0: any number." default:"10000" env:"VMSCLOUD_ACCOUNT_CAMERAS" placeholder:"N"`
	AccountBridges int  `help:"Bridges that an account may have; 0: any number." default:"5000" env:"VMSCLOUD_ACCOUNT_BRIDGES" placeholder:"N"`
	AccountEvents  room `help:"What the events of an account may take, such as 2GB or 10% of the disk, where there are several accounts; beyond it new ones wait at their bridges. 0 sets no limit." default:"25%" env:"VMSCLOUD_ACCOUNT_EVENTS" placeholder:"SIZE"`
}

// limit holds accounts to the limits.
func (c runCmd) limit(reg *registry.Registry, ids *store.Store, book *ledger) {
	reg.Limits = registry.Limits{Cameras: c.AccountCameras, Bridges: c.AccountBridges}
	reg.Quota = func(account string) (n int, err error) {
		err = ids.View(func(tx *store.Tx) error {
			var a model.Account
			a, err = tx.Account(account)
			n = a.CameraQuantity
			return err
		})
		return n, err
	}
	if c.Store != "" {
		return // what all may take, PostgreSQL's own disk limits
	}
	book.usage.limit, book.usage.alone = c.AccountEvents.limit(c.Data), reg.Alone
}
