"""An RTSP server that is not ours (GStreamer's), for the end-to-end tests.

usage: rtspserver.py USER PASSWORD NAME=CODEC:FILE...    (FILE is a Matroska file; CODEC is h264, h265 or mjpeg)

Serves each file at rtsp://127.0.0.1:PORT/NAME to users who sign in with digest, prints the port, and ends with its
standard input. Each client gets the file from its beginning, at its own pace, with its own timestamps.
"""
import sys
import threading

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtsp", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtsp, GstRtspServer  # noqa: E402

CHAINS = {
    "h264": "h264parse config-interval=-1 ! rtph264pay name=pay0 pt=96",
    "h265": "h265parse config-interval=-1 ! rtph265pay name=pay0 pt=96",
    "mjpeg": "jpegparse ! rtpjpegpay name=pay0 pt=26",
}


def main() -> None:
    user, password, streams = sys.argv[1], sys.argv[2], sys.argv[3:]
    Gst.init(None)
    server = GstRtspServer.RTSPServer()
    server.set_address("127.0.0.1")
    server.set_service("0")

    auth = GstRtspServer.RTSPAuth()
    auth.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)
    token = GstRtspServer.RTSPToken()
    token.set_string("media.factory.role", "viewer")
    auth.add_digest(user, password, token)
    server.set_auth(auth)

    permissions = GstRtspServer.RTSPPermissions()
    permissions.add_permission_for_role("viewer", "media.factory.access", True)
    permissions.add_permission_for_role("viewer", "media.factory.construct", True)

    mounts = server.get_mount_points()
    for stream in streams:
        name, _, rest = stream.partition("=")
        codec, _, path = rest.partition(":")
        factory = GstRtspServer.RTSPMediaFactory()
        factory.set_launch('( filesrc location="%s" ! matroskademux ! %s )' % (path, CHAINS[codec]))
        factory.set_permissions(permissions)
        mounts.add_factory("/" + name, factory)
    server.attach(None)
    print(server.get_bound_port(), flush=True)

    loop = GLib.MainLoop()
    threading.Thread(target=lambda: (sys.stdin.read(), loop.quit()), daemon=True).start()
    loop.run()


main()
