// Package replay runs recordings through what the bridge runs, and prints the spans that it finds:
// for tuning a camera and for measuring. It is vmsbridge replay; the lab's program of the same name
// adds masks, plots and folders of images as an Observer. Package footage reads the pictures,
// a Watch finds the spans, and a Score holds them against labels.
//
//	err := command.Run(ctx, replay.Program{Name: "vmsbridge", Out: os.Stdout, Err: os.Stderr,
//		Load: configs.Load})
package replay
