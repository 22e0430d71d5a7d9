// Package factor is the second factor of sign-in: who needs one, four-digit codes by mail or SMS that are good for
// 15 minutes and once, the change of the address, phone or switch that the codes depend on, and the devices that are
// trusted after a sign-in with a code. It keeps its state in identity/store's tickets and users and sends through
// identity/post; identity/session calls it between authenticate and authorize, identity/web for its three endpoints.
//
//	second := factor.New(factor.Options{Store: ids, Hasher: hasher, Post: office})
//	desk := session.New(session.Options{Store: ids, Hasher: hasher, Factor: second, Post: office})
//	handler, err := web.New(web.Options{Store: ids, Desk: desk, Factors: second})
//
// More than three wrong codes lock the user, whether they were given to sign in or to change something: the count is the
// user's and only a right code clears it, so that beginning anew gives no further guesses.
package factor
