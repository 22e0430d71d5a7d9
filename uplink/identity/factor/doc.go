// Package factor is the second factor of sign-in: who needs one, four-digit codes by mail or SMS that are good for
// 15 minutes and once, the change of the address, phone or switch that the codes depend on, and the devices that are
// trusted after a sign-in with a code. It keeps its state in identity/store's tickets and users and sends through
// identity/post; identity/session calls it between authenticate and authorize.
package factor
