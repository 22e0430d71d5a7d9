package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"vmsbridge/cmd/cli"
	"vmsbridge/storage/database"
	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
)

// Files below the data folder.
const (
	identityFile = "identity.db"
	registryFile = "registry.db"
	eventsFile   = "events.db"
	adminSocket  = "admin.sock"
)

type initCmd struct {
	storeFlag
	jsonFlag
	Account  string `help:"Name of the account." required:"" placeholder:"NAME"`
	ID       string `help:"Id of the account; a random one if left out." placeholder:"ID"`
	Email    string `help:"Address of the first user, who may do everything; it is the name to sign in with." default:"admin@localhost" placeholder:"ADDRESS"`
	Password string `name:"password-file" help:"File with that user's password, - for standard input; without it a link to set one is printed." placeholder:"FILE"`
	Quiet    bool   `help:"Print only the id of the account." short:"q"`
}

func (c initCmd) Run() error {
	if err := model.CheckEmail(c.Email); err != nil {
		return fmt.Errorf("--email %w", err)
	}
	hash, err := c.hash()
	if err != nil {
		return err
	}
	if c.Store == "" {
		if err := os.MkdirAll(c.Data, 0o700); err != nil {
			return fmt.Errorf("make data folder: %w", err)
		}
	}
	s, err := openIdentity(c.storeFlag)
	if err != nil {
		return err
	}
	account, token, err := c.create(s.ids, hash)
	if err := errors.Join(err, s.close()); err != nil {
		return err
	}
	if c.Quiet || c.JSON {
		o := object{"account": account.ID, "name": account.Name, "address": c.Email}
		if token != "" {
			o["token"], o["hours"] = token, passwordHours // which sets the user's password
		}
		return c.said(secretOut(), o, "%s\n", account.ID)
	}
	start, cloud := called()+" run "+c.flags(), called()
	_, err = os.Stat("/usr/lib/systemd/system/vmscloud.service")
	if err == nil && c.Data == packageData && c.Store == "" {
		start, cloud = "sudo systemctl start vmscloud", "sudo -u vmscloud vmscloud"
	}
	fmt.Printf(`Account %s (%s) is ready in %s.

Start it with:         %[4]s
A token for a bridge:  %[5]s token create %[6]s --kind bridge --name "front gate" --quiet > service.token
A token for yourself:  %[5]s token create %[6]s --kind user

The bridge's YAML needs, with an id of your choice and service.token beside it:
  bridge: { id: front-gate, account: %[2]s }
  service: { url: "http://127.0.0.1:8470", token_file: service.token }

`, account.Name, account.ID, c.place(), start, cloud, c.flags())
	if token == "" {
		fmt.Printf("Sign in as %s with the password that you gave.\n", c.Email)
	} else {
		fmt.Printf(setPassword, c.Email, passwordHours, token, c.flags(), cloud)
	}
	return nil
}

// packageData is the folder of a packaged service.
const packageData = "/var/lib/vmscloud"

// called is how to call this program again: by its name where that finds it, else by its path.
func called() string {
	name := filepath.Base(os.Args[0])
	if found, err := exec.LookPath(name); err == nil && !strings.Contains(os.Args[0], "/") || err == nil &&
		found == os.Args[0] {
		return name
	}
	return os.Args[0]
}

// secretOut is standard output for a secret. Where it was redirected into a file, only the owner
// may read that from now on.
func secretOut() *os.File {
	if info, err := os.Stdout.Stat(); err == nil && info.Mode().IsRegular() {
		_ = os.Stdout.Chmod(0o600) // a file of somebody else stays as it is
	}
	return os.Stdout
}

// setPassword tells how to use a token for a password.
const setPassword = `%[1]s has no password yet. While vmscloud runs, and within %[2]d hours, set one of at least 10 characters: on its page,
  http://127.0.0.1:8470/#/password?token=%[3]s
or by
  curl http://127.0.0.1:8470/g/aaa/reset_password -d token=%[3]s --data-urlencode password=YOUR-PASSWORD
For another such token: %[5]s user link %[4]s %[1]s
`

// passwordHours is how long the token is good.
const passwordHours = 24

// hash is that of the password in the file, "" if none is given.
func (c initCmd) hash() (string, error) {
	if c.Password == "" {
		return "", nil
	}
	raw, err := readFile(c.Password)
	if err != nil {
		return "", fmt.Errorf("read password: %w", err)
	}
	password := strings.TrimRight(string(raw), "\r\n")
	if why := identity.CheckPassword(password); why != "" {
		return "", fmt.Errorf("the password %s", why)
	}
	return identity.NewHasher(identity.Cost{}, 1).Hash(context.Background(), password)
}

// readFile reads a file, or standard input for "-".
func readFile(name string) ([]byte, error) {
	if name == "-" {
		return io.ReadAll(io.LimitReader(os.Stdin, 1<<16))
	}
	return os.ReadFile(name)
}

// create makes the account, a master, and its superuser. Without a password it returns a token to
// set one with.
func (c initCmd) create(ids *store.Store, hash string) (account model.Account, token string, err error) {
	err = ids.Update(func(tx *store.Tx) error {
		there, err := tx.Accounts()
		if err != nil {
			return err
		}
		if len(there) > 0 {
			return fmt.Errorf("%s holds the account %s (%s) already; nothing was changed", c.place(), there[0].Name,
				there[0].ID)
		}
		a := model.NewAccount()
		a.ID, a.Name, a.ContactEmail, a.Status, a.IsMaster = c.ID, c.Account, c.Email, model.Texts{model.StatusActive},
			true
		if account, err = tx.AddAccount(a); err != nil {
			return err
		}
		u := model.NewUser()
		u.OwnerAccountID, u.FirstName, u.Email = account.ID, c.Account, c.Email
		u.IsSuperuser, u.IsAccountSuperuser = true, true
		if hash != "" {
			u.IsActive, u.IsPending, u.Inner.PasswordHash, u.Inner.PasswordSet = true, false, hash, tx.Now()
		}
		if u, err = tx.AddUser(u.Settled()); err != nil {
			return err
		}
		made := model.AuditEntry{AccountID: account.ID, ByName: "vmscloud init", Action: model.AuditCreate,
			Kind: model.KindAccount, Target: account.ID, Name: account.Name}
		first := made
		first.Kind, first.Target, first.Name = model.KindUser, u.ID, u.Email
		if err := errors.Join(tx.Record(made), tx.Record(first)); err != nil || hash != "" {
			return err
		}
		token, err = passwordToken(tx, u)
		return err
	})
	return account, token, err
}

// passwordToken makes a token with which a user can set a password. Older ones are worth nothing
// from now on.
func passwordToken(tx *store.Tx, u model.User) (string, error) {
	token := identity.NewToken(48)
	return token,
		errors.Join(tx.DropTickets(u.ID, model.PurposePassword),
			tx.PutTicket(model.Ticket{Hash: identity.HashToken(token),
				Purpose: model.PurposePassword, AccountID: u.OwnerAccountID, UserID: u.ID, Created: tx.Now(),
				Expires: tx.Now().Add(passwordHours * time.Hour)}))
}

// openIdentity opens accounts and people for a command.
func openIdentity(at storeFlag) (*state, error) {
	s, err := at.open(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// openUsers opens the identity file, and says what to do if a running vmscloud has it.
func openUsers(dir string, o store.Options) (*store.Store, error) {
	ids, err := store.Open(filepath.Join(dir, identityFile), o)
	if errors.Is(err, database.ErrLocked) {
		return nil, inUseError(dir)
	}
	return ids, err
}

// inUseError is the data folder that another process has. It is a database.ErrLocked.
type inUseError string

func (e inUseError) Error() string {
	return string(e) + " is in use by another vmscloud; stop it first"
}

func (inUseError) Is(target error) bool { return target == database.ErrLocked }

func (f storeFlag) noAccount() error {
	return cli.Exit(cli.Config, fmt.Errorf("%s holds no account yet; make one with: vmscloud init %s "+
		"--account NAME", f.place(), f.flags()))
}
