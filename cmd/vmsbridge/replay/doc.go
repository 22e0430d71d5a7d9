// Package replay runs recordings through what the bridge runs, and prints the spans that it finds:
// for tuning a camera and for measuring. It is vmsbridge replay; the lab's program of the same name
// adds masks, plots and folders of images as an Observer. Package footage reads the pictures,
// package watch finds the spans, package truth holds them against labels.
//
//	err := command.Run(ctx, replay.Program{Name: "vmsbridge", Out: os.Stdout, Err: os.Stderr,
//		Load: configs.Load})
package replay
