// Package notice writes to users when the status of a camera changes, as their settings say (§2.2): those with the System
// level in notify_levels, while is_notify_enable is set and the time lies in notify_period, as often as notify_rule allows, of
// cameras that they may see, unless the account has system notifications disabled. It reads identity/store and hands letters
// to identity/post; whoever hears of status events calls it.
//
//	n := notice.New(notice.Options{Store: ids, Post: office, Picture: last})
//	err := n.Tell(ctx, notice.Change{Account: "acc", Camera: "cam", Name: "Gate", Status: vms.StatusDeviceOffline, At: at})
//
// A bridge that is away takes all its cameras with it: that is one letter, which lists those of them that the user may see, and one when
// it is back.
//
// The document also speaks of motion alerts with modes and of boxes with levels. Its interface has no call that defines one,
// so that there is nothing to tell of them.
package notice
