// Package setup is how people set a bridge's cameras up without a text editor: it finds a camera's
// stream, tries it with a picture, and writes it into the configuration file, where comments, order
// and every other key stay as they are. The file stays the truth: what is written is read again
// first, and what it cannot hold is refused.
//
//	found, err := setup.Find(ctx, camera.Config{URL: "10.0.0.5", Username: "viewer", Password: p}, setup.Progress{})
//	s := setup.New(setup.Options{File: file, Reload: reload})
//	id, err := s.Add(ctx, setup.Draft{Name: "Gate", URL: found.URL, Username: "viewer", Password: p})
//
// Its neighbours: agent/discover asks by ONVIF, agent/camera by RTSP, agent/codec makes the
// picture, configs edits the text. The page (agent/api) and the commands probe and discover use it.
package setup
