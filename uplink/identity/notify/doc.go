// Package notify tells people and other parts what happened. A Mailer sends messages: mail through
// an SMTP server and short messages through an HTTP gateway. A caller hands over a Message and does
// not wait, so that the time of an answer does not tell whether there was anyone to write to.
//
//	settings, err := notify.LoadSettings("/etc/vmscloud/letters.yaml")
//	mailer, err := notify.NewMailer(settings, notify.MailerOptions{Log: log})
//	go mailer.Run(ctx)
//	err = mailer.Send(notify.Message{Kind: notify.Code, Channel: notify.Mail, To: to, Code: code})
//
// Messages wait in memory only, since they hold what opens accounts. A sender of one that must not
// be lost notes it elsewhere and writes another when the program starts again (identity/session
// does, in identity/store, without what is secret); MailerOptions.Done tells when that note can go.
//
// A StatusNotifier writes to users when the status of a camera or bridge changes, as their settings
// say: those with the System level in notify_levels, while is_notify_enable is set and the time
// lies in notify_period, as often as notify_rule allows, of cameras that they may see, unless the
// account has system notifications disabled. A bridge that is away takes all its cameras with it:
// one message lists those that the user may see, and another says when it is back. Motion alerts
// and levels of boxes have no call that defines them, so that there is nothing to tell of them.
//
// An AuditExporter makes events of the audit trail.
package notify
