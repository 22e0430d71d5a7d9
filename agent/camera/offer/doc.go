// Package offer reads what a camera describes: the media of a session description, made fit for the
// RTSP library's parser, in which a panic would take the process. Which of them is read is the
// session's choice.
//
//	body, offers := offer.Read(response.Body)
//	for _, o := range offers { fmt.Println(o.Kind, o.Codec, o.Supported) }
package offer
