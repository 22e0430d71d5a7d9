"""An SMTP server for tests: aiosmtpd, with TLS and AUTH, on a free port of the loopback address.

Prints {"port": N} and then each letter as a line of JSON; ends when standard input does.
usage: smtpd.py SECURITY CERT KEY USER PASSWORD   (SECURITY: starttls, tls or none; USER "" for none)

Recipients steer it: refused@… is refused for good, busy@… on its first two tries, garbled@… after the text with the
text in the answer, silent@… never gets an answer.
"""
import asyncio
import email
import email.policy
import json
import logging
import os
import ssl
import sys
import warnings

from aiosmtpd.smtp import SMTP, AuthResult

logging.disable()
security, cert, key, user, password = sys.argv[1:6]


def say(**what):
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


class Handler:
    tries = {}

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("refused@"):
            return "550 5.1.1 no such mailbox"
        if address.startswith("busy@"):
            self.tries[address] = self.tries.get(address, 0) + 1
            if self.tries[address] <= 2:
                return "451 4.3.0 try again"
        if address.startswith("silent@"):
            say(event="silent")
            await asyncio.sleep(3600)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        m = email.message_from_bytes(envelope.content, policy=email.policy.default)
        text = m.get_content()
        if envelope.rcpt_tos[0].startswith("garbled@"):
            return "554 5.6.0 I do not like: " + " ".join(text.split())
        say(to=envelope.rcpt_tos, sender=envelope.mail_from, subject=str(m["Subject"]), text=text,
            headers={k: str(v) for k, v in m.items()}, tls=session.ssl is not None or security == "tls",
            authenticated=bool(session.authenticated))
        return "250 OK"


def authenticate(server, session, envelope, mechanism, data):
    ok = getattr(data, "login", b"") == user.encode() and getattr(data, "password", b"") == password.encode()
    return AuthResult(success=ok, handled=ok)


async def main():
    context = None
    if security != "none":
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(cert, key)
    loop = asyncio.get_running_loop()

    def one():
        return SMTP(Handler(), hostname="localhost", loop=loop, tls_context=context if security == "starttls" else None,
                    require_starttls=security == "starttls", auth_required=user != "", auth_require_tls=security == "starttls",
                    authenticator=authenticate)

    server = await loop.create_server(one, "127.0.0.1", 0, ssl=context if security == "tls" else None)
    say(port=server.sockets[0].getsockname()[1])
    await loop.run_in_executor(None, sys.stdin.read)


try:
    warnings.simplefilter("ignore")
    asyncio.run(asyncio.wait_for(main(), 600))
except (asyncio.TimeoutError, KeyboardInterrupt):
    pass
os._exit(0)
