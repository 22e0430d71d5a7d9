// Package configs holds what the bridge's YAML file says: the defaults, the strict loading and the
// validation. It stands at the start of everything: cmd/vmsbridge loads a file here and hands the
// result to agent.New. It imports nothing of ours.
//
// Load reads, decodes and checks in one pass and reports every problem that it finds, not only the
// first, each with its
// place in the file:
//
//	cfg, err := configs.Load("/etc/vmsbridge/vmsbridge.yaml")
//	var problems configs.Problems
//	if errors.As(err, &problems) {
//		for _, p := range problems {
//			// vmsbridge.yaml:12:5: cameras[0].ulr: unknown key, did you mean "url"?
//			fmt.Println(p)
//		}
//	}
//
// The file vmsbridge.example.yaml beside this package is the reference for people; a test keeps it
// and the code together.
package configs
