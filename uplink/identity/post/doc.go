// Package post sends letters: mail through an SMTP server and short messages through an HTTP gateway. Those who write
// letters (identity/web, identity/session, identity/factor) hand over a Letter and do not wait, so that the time of an
// answer does not tell whether there was anyone to write to.
//
//	office, err := post.New(post.Options{...})
//	err = office.Send(post.Letter{Kind: post.PasswordReset, To: "anna@example.org", Link: link})
package post
