// Package post sends letters: mail through an SMTP server and short messages through an HTTP gateway. Those who write
// letters (identity/web, identity/session, identity/factor) hand over a Letter and do not wait, so that the time of an
// answer does not tell whether there was anyone to write to.
//
//	settings, err := post.Load("/etc/vmscloud/letters.yaml")
//	office, err := post.New(settings, post.Options{Log: log})
//	go office.Run(ctx)
//	err = office.Send(post.Letter{Kind: post.Code, Channel: post.Mail, To: "anna@example.org", Code: "0123"})
//
// Letters wait in memory only, since they hold what opens accounts. Whoever sends one that must not be lost notes it
// elsewhere and writes another when the program begins anew (identity/session does, in identity/store, without what is
// secret); Options.Done tells when that note can go. Codes are not noted: people ask for another.
package post
