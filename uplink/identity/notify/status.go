package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/identity/model"
	"vmsbridge/uplink/identity/store"
	"vmsbridge/uplink/vms"
)

// Sender sends messages without waiting; Mailer is one.
type Sender interface {
	Send(Message) error
	Can(Channel) bool
}

// StatusOptions of New. Store and Post are needed.
type StatusOptions struct {
	Store *store.Store
	Post  Sender
	// Picture is the newest preview of a camera before a time as a JPEG, nil if there is none. nil:
	// messages hold no pictures.
	Picture func(ctx context.Context, account, camera string, before time.Time) []byte
	Log     *slog.Logger
}

// StatusChange is a status that a camera went into, or a bridge with all its cameras.
type StatusChange struct {
	Account, Camera string // Camera is "" for a bridge
	Name            string // of the camera or the bridge
	Status          string // one of the vms.Status constants
	At              time.Time
	Bridge          string            // "" for a camera
	Cameras         map[string]string // of the bridge: id → name
}

// device tells devices apart.
func (c StatusChange) device() string {
	if c.Bridge != "" {
		return c.Account + "\x00bridge\x00" + c.Bridge
	}
	return c.Account + "\x00camera\x00" + c.Camera
}

// seen are the names of those cameras of a change that a user may see, sorted.
func (c StatusChange) seen(g *identity.Grants) (names []string) {
	if c.Bridge == "" && g.Has(c.Camera, "R") {
		return []string{c.Name}
	}
	for id, name := range c.Cameras {
		if g.Has(id, "R") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

const (
	// systemLevel is "camera status changes" in notify_levels.
	systemLevel = 3
	// systemLabel is what a rule is called that is about them. The interface shows no label; other
	// rules are of alerts.
	systemLabel = "system"
	methodMail  = "email"
	// news is how old a change of a camera may be that anyone is told of: a bridge that was away
	// brings days of them along. Those of a bridge are the service's own, which may have been away
	// itself.
	news = time.Hour
	// ahead is how far a change may lie in the future, by a clock that differs a little, to hold
	// back an earlier one; beyond it, the clock was wrong.
	ahead = time.Minute
	// pictureTime bounds the wait for a picture.
	pictureTime = 10 * time.Second
)

// StatusNotifier tells people. Safe for concurrent use; starts no goroutine.
type StatusNotifier struct {
	o StatusOptions

	mu   sync.Mutex              // guards what follows
	last map[string]StatusChange // by device
	told map[string]time.Time    // by user: the newest message
}

// NewStatusNotifier makes one that has told nobody of anything.
func NewStatusNotifier(o StatusOptions) *StatusNotifier {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &StatusNotifier{o: o, last: map[string]StatusChange{}, told: map[string]time.Time{}}
}

// Tell writes to all who are to know of a change. A change that was told already, that is none, or
// that is no news any more is told to nobody.
func (n *StatusNotifier) Tell(ctx context.Context, c StatusChange) error {
	if !n.o.Post.Can(Mail) || !n.isNew(c) {
		return nil
	}
	var messages []Message
	seers := map[string]bool{} // who may see a picture
	picture := false
	err := n.o.Store.View(func(tx *store.Tx) error {
		home, err := tx.Account(c.Account)
		if err != nil {
			return err
		}
		if !home.Is(model.StatusActive) || bool(home.IsNotificationsOff) {
			return nil
		}
		picture = bool(home.IsNotificationImages)
		users, err := tx.UsersOf(home.ID)
		for _, u := range users {
			grants := model.GrantsOf(u, home, home, nil, nil)
			cameras := c.seen(grants)
			if u.Disabled() || bool(u.IsPending) || len(cameras) == 0 || !wants(u, tx.Now()) || !n.due(u, tx.Now()) {
				continue
			}
			seers[u.Email] = grants.Preview
			l := Message{Kind: CameraStatus, Channel: Mail, To: u.Email, Language: u.Language,
				Name: strings.TrimSpace(u.FirstName + " " + u.LastName), Account: home.Name, Camera: c.Name,
				Status: c.Status,
				When:   c.At.In(model.Zone(u.Timezone)).Format("2006-01-02 15:04:05 MST")}
			if c.Bridge != "" {
				l.Kind, l.Camera, l.Bridge, l.Cameras = BridgeStatus, "", c.Name, cameras
			}
			messages = append(messages, l)
		}
		return err
	})
	if errors.Is(err, identity.ErrNotFound) || err == nil && len(messages) == 0 {
		return nil
	} else if err != nil {
		return fmt.Errorf("tell of a device's status: %w", err)
	}
	var jpeg []byte
	if picture && c.Bridge == "" && n.o.Picture != nil {
		limited, cancel := context.WithTimeout(ctx, pictureTime)
		defer cancel()
		jpeg = n.o.Picture(limited, c.Account, c.Camera, c.At)
	}
	for _, l := range messages {
		if seers[l.To] {
			l.Picture = jpeg
		}
		if err := n.o.Post.Send(l); err != nil {
			n.o.Log.Warn("a message was not sent", "kind", l.Kind, "error", err)
		}
	}
	return nil
}

// isNew notes a change and says whether it is news: later than the last one of its camera, and
// another status. Of a camera of which nothing was heard before, being online is no news.
func (n *StatusNotifier) isNew(c StatusChange) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	before, known := n.last[c.device()]
	now := n.o.Store.Now()
	if known && !c.At.After(before.At) && before.At.Sub(now) < ahead {
		return false
	}
	n.last[c.device()] = c
	if !known {
		before.Status = vms.StatusOnline
	}
	return c.Status != before.Status && (c.Bridge != "" || now.Sub(c.At) < news)
}

// Known notes a change that was told before this program started.
func (n *StatusNotifier) Known(c StatusChange) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last[c.device()] = c
}

// wants says whether a user's settings ask for notices of the system at a time.
func wants(u model.User, now time.Time) bool {
	var settings struct {
		VMS struct {
			Levels []int `json:"notify_levels"`
		} `json:"vms"`
	}
	_ = json.Unmarshal([]byte(u.JSON), &settings) // settings of another form ask for nothing
	return bool(u.IsNotifyEnable) && slices.Contains(settings.VMS.Levels, systemLevel) &&
		len(u.NotifyPeriod) > 0 && model.Within(u.NotifyPeriod, u.Timezone, now)
}

// due says whether a user's rules let a mail out now, and notes it. Without a rule about the system
// every change is told.
func (n *StatusNotifier) due(u model.User, now time.Time) bool {
	pause, ruled, byMail := time.Duration(0), false, false
	for _, r := range u.NotifyRule {
		label, method, delay := rulePart(r)
		if !strings.EqualFold(label, systemLabel) {
			continue
		}
		if ruled = true; method == methodMail {
			pause, byMail = delay, true
		}
	}
	if ruled && !byMail {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if last, ok := n.told[u.ID]; ok && now.Sub(last).Abs() < pause {
		return false
	}
	n.told[u.ID] = now
	return true
}

// rulePart splits '<alert_label>-<notification_method>-<delay>'; a label may hold hyphens.
func rulePart(s string) (label, method string, delay time.Duration) {
	rest, minutes, _ := cutLast(s)
	label, method, _ = cutLast(rest)
	n, err := strconv.Atoi(minutes)
	if err != nil {
		return "", "", 0
	}
	return label, method, time.Duration(n) * time.Minute
}

func cutLast(s string) (before, after string, ok bool) {
	i := strings.LastIndexByte(s, '-')
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+1:], true
}
