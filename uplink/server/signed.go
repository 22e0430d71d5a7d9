package server

import (
	"crypto/sha256"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"vmsbridge/uplink/identity"
	"vmsbridge/uplink/vms"
)

// argSignature is the argument of a signed address. It makes everything else in the address say the
// truth: whoever has the address sees that one image until it expires, and nothing else.
const argSignature = "signature"

// includeSigned asks for events whose image addresses are signed.
const includeSigned = "signedUrls"

// SignedFor is how long an address that is handed out with an event is good.
const SignedFor = time.Hour

// signature is what the argument holds: the account and id of the camera, the end, and a hash of
// the other arguments.
type signature struct {
	Account string `json:"a"`
	Camera  string `json:"c"`
	Until   int64  `json:"u"` // Unix seconds
	Args    []byte `json:"q"`
}

// Sign adds a signature to the query of an image's address, for a camera by the id that it has in
// its own account.
func (s *Server) Sign(account, camera string, query url.Values, until time.Time) (url.Values, error) {
	signed := maps.Clone(query)
	signed.Del(argSignature)
	signed.Set("deviceId", camera)
	token, err := s.signer.sign("image address", "", signature{account, camera, until.Unix(), hashOf(signed)})
	if err != nil {
		return nil, err
	}
	signed.Set(argSignature, token)
	return signed, nil
}

// hashOf is a hash of arguments in an order of their own.
func hashOf(query url.Values) []byte {
	return hashBytes([]byte(query.Encode()))
}

func hashBytes(b []byte) []byte {
	sum := sha256.Sum256(b)
	return sum[:16]
}

// bySignature is who may see the one image of a signed address.
func (s *Server) bySignature(r *http.Request) (p identity.Principal, err error) {
	refuse := func(reason string) (identity.Principal, error) {
		return p, vms.NewError(http.StatusUnauthorized, vms.ReasonUnauthenticated, "The signed address "+reason)
	}
	query := r.URL.Query()
	var its signature
	if err := s.signer.open("image address", "", query.Get(argSignature), &its); err != nil {
		return refuse("is not one of this server: its signature does not fit")
	}
	query.Del(argSignature)
	if r.URL.Path != vms.PathImage || !slices.Equal(hashOf(query), its.Args) {
		return refuse("was changed: its signature is that of another image")
	}
	if until := time.Unix(its.Until, 0); !time.Now().Before(until) {
		return refuse("has expired at " + vms.At(until).String() + ": ask for a new one where it came from")
	}
	return identity.Principal{Name: "signed address", Kind: identity.KindUser, AccountID: its.Account,
		Cameras: []string{its.Camera},
		Scopes:  []string{identity.ScopeRead}}, nil
}

// signAddresses replaces the image addresses of events by signed ones at this server, if the caller
// asked for that and may see the images. The events are changed.
func (s *Server) signAddresses(c *call, events []vms.Event, include []string) ([]vms.Event, error) {
	if !slices.Contains(include, includeSigned) {
		return events, nil
	}
	here, until := s.here(c.r).String(), time.Now().Add(SignedFor)
	for i := range events {
		var err error
		if events[i], err = s.SignEvent(c.principal, events[i], here, until); err != nil {
			return nil, err
		}
	}
	return events, nil
}

// SignEvent is an event whose addresses of images that p may see are signed ones at here, the
// address of this server, good until a time. Its data is changed in place.
func (s *Server) SignEvent(p identity.Principal, ev vms.Event, here string, until time.Time) (vms.Event, error) {
	for k, d := range ev.Data {
		var err error
		for _, field := range imageFields[d.Type] {
			if d, err = s.signItem(p, ev.ActorID, d, field, here, until); err != nil {
				return ev, err
			}
		}
		ev.Data[k] = d
	}
	return ev, nil
}

// imageFields are the fields of data items that hold addresses of images.
var imageFields = map[string][]string{vms.SchemaFullFrame: {"httpsUrl"}, vms.SchemaCroppedFrame: {"httpsUrl"},
	vms.SchemaFullFrameOverlay: {"overlaySvgHeaderUrl", "overlayEmbeddedUrl"}}

// signItem is a data item of a camera's event whose address in a field is signed, or the item as it
// is where the address is not that of an image of the camera.
func (s *Server) signItem(p identity.Principal, id string, d vms.Data, field, here string, until time.Time) (vms.Data,
	error) {
	var fields map[string]json.RawMessage
	var address string
	if d.Into(&fields) != nil || json.Unmarshal(fields[field], &address) != nil {
		return d, nil
	}
	// A box may stand behind the address as a fragment, which is never sent; as an argument this
	// server cuts it out.
	address = strings.Replace(address, "#xywh=", "&xywh=", 1)
	u, err := url.Parse(address)
	if err != nil || !strings.HasSuffix(u.Path, vms.PathImage) {
		return d, nil
	}
	query, camera := u.Query(), cameraActor(id)
	its := p.Find(camera)
	if named := query.Get("deviceId"); named != id && named != its.ID || !p.Sees(camera) ||
		!p.Views(query.Get("type")) {
		return d, nil
	}
	if query, err = s.Sign(its.Account, its.ID, query, until); err != nil {
		return d, err
	}
	if fields[field], err = json.Marshal(here + vms.PathImage + "?" + query.Encode()); err != nil {
		return d, err
	}
	return vms.MakeData(fields)
}
