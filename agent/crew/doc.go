// Package crew is the bridge's cameras at work: one post a camera, each with its pipeline (agent/pipeline), which is made anew
// when it fails. One camera's trouble, a panic included, costs the others nothing; and when the configuration changes, only the
// posts of cameras whose section changed are touched.
//
//	c := crew.New(crew.Options{Make: func(s configs.Camera) (*pipeline.Pipeline, error) { return pipeline.New(s, rooms) }, …})
//	err := c.Hire(cfg.Cameras) // before Run
//	go c.Run(ctx)
//	change, err := c.Apply(ctx, edited.Cameras) // while it runs
package crew
