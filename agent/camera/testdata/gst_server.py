# An RTSP server that is not ours: GStreamer's, with digest sign-in, H.264 with B-frames, H.265 and MJPEG of a live test
# picture. Prints its port when it is ready; ends when its standard input does. user and password are the arguments.
import sys
import threading
import gi
gi.require_version("Gst", "1.0")
gi.require_version("GstRtsp", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtsp, GstRtspServer

Gst.init(None)
loop = GLib.MainLoop()
server = GstRtspServer.RTSPServer()
server.set_address("127.0.0.1")
server.set_service("0")

auth = GstRtspServer.RTSPAuth()
auth.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)
token = GstRtspServer.RTSPToken()
token.set_string("media.factory.role", "user")
auth.add_digest(sys.argv[1], sys.argv[2], token)
server.set_auth(auth)

source = "videotestsrc is-live=true pattern=ball ! video/x-raw,format=I420,width=320,height=240,framerate=15/1 ! "
for path, launch in {
    "/h264": source + "x264enc speed-preset=ultrafast key-int-max=15 bframes=2 b-adapt=false ! rtph264pay name=pay0 pt=96 config-interval=-1",
    "/h265": source + "x265enc speed-preset=ultrafast tune=zerolatency key-int-max=15 ! rtph265pay name=pay0 pt=96 config-interval=-1",
    "/mjpeg": source + "jpegenc ! rtpjpegpay name=pay0 pt=26",
}.items():
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch("( " + launch + " )")
    factory.set_shared(True)
    permissions = GstRtspServer.RTSPPermissions()
    permissions.add_permission_for_role("user", "media.factory.access", True)
    permissions.add_permission_for_role("user", "media.factory.construct", True)
    factory.set_permissions(permissions)
    server.get_mount_points().add_factory(path, factory)

server.attach(None)
print(server.get_bound_port(), flush=True)


def wait():
    sys.stdin.read()
    loop.quit()


threading.Thread(target=wait, daemon=True).start()
loop.run()
