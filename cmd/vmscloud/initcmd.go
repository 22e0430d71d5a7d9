package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	bolterrors "go.etcd.io/bbolt/errors"

	"vmsbridge/uplink/identity"
)

// Files below the data folder.
const (
	identityFile = "identity.db"
	registryFile = "registry.db"
	eventsFile   = "events.db"
	adminSocket  = "admin.sock"
)

type initCmd struct {
	dataFlag
	Account string `help:"Name of the account." required:"" placeholder:"NAME"`
	ID      string `help:"Id of the account; a random one if left out." placeholder:"ID"`
	Email   string `help:"Address of the account's first user." placeholder:"ADDRESS"`
	Quiet   bool   `help:"Print only the id of the account." short:"q"`
}

func (c initCmd) Run() error {
	if err := os.MkdirAll(c.Data, 0o700); err != nil {
		return fmt.Errorf("make data folder: %w", err)
	}
	store, err := openIdentity(c.Data)
	if err != nil {
		return err
	}
	account, err := c.create(store)
	if err := errors.Join(err, store.Close()); err != nil {
		return err
	}
	if c.Quiet {
		fmt.Println(account.ID)
		return nil
	}
	fmt.Printf(`Account %s (%s) is ready in %s.

A token for a bridge:  vmscloud token create --data %[3]s --kind bridge --name "front gate"
A token for yourself:  vmscloud token create --data %[3]s --kind user
Then start it with:    vmscloud run --data %[3]s

The bridge's YAML needs:
  bridge:  { account: %[2]s }
  service: { url: http://127.0.0.1:8470, token_file: FILE WITH THE BRIDGE'S TOKEN }
`, account.Name, account.ID, c.Data)
	return nil
}

func (c initCmd) create(store *identity.Store) (identity.Account, error) {
	there, err := store.Accounts()
	if err != nil {
		return identity.Account{}, err
	}
	if len(there) > 0 {
		return identity.Account{}, fmt.Errorf("%s holds the account %s (%s) already; nothing was changed", c.Data, there[0].Name, there[0].ID)
	}
	account, err := store.CreateAccount(identity.Account{ID: c.ID, Name: c.Account})
	if err != nil {
		return account, err
	}
	_, err = store.CreateUser(identity.User{AccountID: account.ID, FirstName: c.Account, Email: c.Email})
	return account, err
}

// openIdentity opens the identity file, and says what to do if a running vmscloud has it.
func openIdentity(dir string) (*identity.Store, error) {
	store, err := identity.Open(filepath.Join(dir, identityFile), identity.Options{})
	if errors.Is(err, bolterrors.ErrTimeout) {
		return nil, fmt.Errorf("%s is in use by another vmscloud; stop it first", dir)
	}
	return store, err
}

func noAccount(dir string) error {
	return fmt.Errorf("%s holds no account yet; make one with: vmscloud init --data %s --account NAME", dir, dir)
}
