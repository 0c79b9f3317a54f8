"""Start a program that can write to its private view of a folder, and to nothing else that matters.

This file is a program of its own, run by its path (`python -I -S sandbox.py SPEC COMMAND ...`), so it imports nothing
from the package: namespaces need a process with one thread, and starting it costs 20 milliseconds. SPEC is a JSON file
that `private_view` writes, with what to do; the result is written to the report that the SPEC names.

If the kernel allows it, the program runs in its own namespaces. It sees the view at the folder's own path, a private
`/tmp`, a small `/dev`, and the rest of the machine read-only; when it ends, the kernel kills whatever it started.
Otherwise Landlock forbids the writes, or nothing does; then its descendants are found and killed one by one.
"""

from __future__ import annotations

import ctypes
import errno
import json
import os
import resource
import signal
import stat
import struct
import sys
from contextlib import suppress
from typing import Any, NoReturn

NOT_STARTED, NOT_EXECUTABLE, NOT_FOUND, SIGNALLED = 125, 126, 127, 128
END_NOW = signal.SIGUSR1  # tells a running sandbox to end everything at once

_CLONE_NEWNS, _CLONE_NEWIPC, _CLONE_NEWUSER, _CLONE_NEWPID = 0x00020000, 0x08000000, 0x10000000, 0x20000000
_MS_RDONLY, _MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_BIND, _MS_REC, _MS_PRIVATE = 4096, 16384, 1 << 18
_SYS_MOUNT_SETATTR = 442
_SYS_LANDLOCK_CREATE, _SYS_LANDLOCK_ADD, _SYS_LANDLOCK_RESTRICT = 444, 445, 446
_AT_FDCWD, _AT_RECURSIVE = -100, 0x8000
_ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV = 1, 2, 4
_PR_SET_PDEATHSIG, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_SET_CHILD_SUBREAPER = 1, 24, 38, 36
_PR_SET_SECCOMP, _SECCOMP_FILTER = 22, 2
# The capabilities that root keeps, to read and write files as root does: CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL,
# SETGID and SETUID; and SETFCAP, without which a sandbox of the program's own does not start. None of them changes a
# mount.
_KEPT_CAPABILITIES = {0, 1, 3, 4, 5, 6, 7, 31}
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_DEVICE_LINKS = {"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2", "ptmx": "pts/ptmx"}
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - a private one is put there
# Services that can be asked here act for others, outside of any sandbox.
_DAEMONS = ("/run/dbus", "/run/podman", "/run/containerd", "/run/docker.sock", "/run/systemd/private")
# As root, a write to these changes the machine.
_KERNEL_SWITCHES = ("sys", "sysrq-trigger", "irq", "bus", "acpi", "scsi")
# Landlock: the rights to change a file system; the last two came with its versions 2 and 3.
_WRITE_RIGHTS = (1, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14)
_FILE_RIGHTS = 1 << 1 | 1 << 14
_TIOCSTI, _TIOCLINUX = 0x5412, 0x541C
_IOCTL = {"x86_64": (0xC000003E, 16), "aarch64": (0xC00000B7, 29), "riscv64": (0xC00000F3, 29)}

_TRIAL = ".redraft-tmp-trial"  # created to see whether that is possible
_IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)

Spec = dict[str, Any]


class _Library:
    """libc, loaded when it is first called."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)

    def call(self, name: str, *arguments: int | bytes | None) -> int:
        """Call a function; raises OSError if it fails."""
        made = [ctypes.c_long(each) if isinstance(each, int) else ctypes.c_char_p(each) for each in arguments]
        try:
            found: int = self._libc[name](*made)
        except AttributeError as error:
            raise OSError(errno.ENOSYS, f"{name}: {os.strerror(errno.ENOSYS)}") from error
        if found < 0:
            code = ctypes.get_errno()
            raise OSError(code, f"{name}: {os.strerror(code)}")
        return found

    def mount(self, source: str, target: str, kind: str, flags: int, options: str = "") -> None:
        try:
            self.call("mount", source.encode(), os.fsencode(target), kind.encode(), flags, options.encode())
        except OSError as error:
            raise OSError(
                error.errno, f"mount {kind or 'bind'} on {target}: {os.strerror(error.errno or 0)}"
            ) from error

    def set_attributes(self, target: str, on: int, off: int, *, deep: bool = False) -> None:
        """Change the flags of a mount, and with `deep` of all mounts below it."""
        attributes = ctypes.create_string_buffer(struct.pack("QQQQ", on, off, 0, 0), 32)
        address = ctypes.addressof(attributes)
        flags = _AT_RECURSIVE if deep else 0
        self.call("syscall", _SYS_MOUNT_SETATTR, _AT_FDCWD, os.fsencode(target), flags, address, 32)


_library = _Library()
_mount = _library.mount


# Namespaces


def _enter_namespaces() -> None:
    """Enter new user, mount, process and IPC namespaces, in which we are the same user as outside."""
    user, group = os.geteuid(), os.getegid()
    everyone = _map_everyone() if user == 0 else None
    _library.call("unshare", _CLONE_NEWUSER | _CLONE_NEWNS | _CLONE_NEWPID | _CLONE_NEWIPC)
    if everyone is not None:
        everyone()
        return
    _write("/proc/self/setgroups", "deny")
    _write("/proc/self/uid_map", f"{user} {user} 1")
    _write("/proc/self/gid_map", f"{group} {group} 1")


def _map_everyone() -> Any:
    """For root: a process that stays outside and, when asked, maps all users into our new namespace."""
    us = os.getpid()
    asked, ask = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ask)
        os.read(asked, 1)
        status = 0
        for kind in ("uid_map", "gid_map"):
            with open(f"/proc/self/{kind}", encoding="ascii") as file:
                ranges = [line.split() for line in file]
            try:
                _write(f"/proc/{us}/{kind}", "\n".join(f"{start} {start} {count}" for start, _, count in ranges))
            except OSError:
                status = 1
        os._exit(status)

    def finish() -> None:
        os.write(ask, b"x")
        os.close(ask)
        os.close(asked)
        if os.waitpid(child, 0)[1] != 0:
            raise OSError(errno.EPERM, "the users could not be mapped")

    return finish


def _write(path: str, text: str) -> None:
    fd = os.open(path, os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


class _Tree:
    """The file system as the program will see it. What has to stay reachable is opened before anything is covered."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._folder: str = spec["folder"]
        self._devices = {name: _hold(f"/dev/{name}") for name in _DEVICES if os.path.exists(f"/dev/{name}")}
        self._writable = {path: _hold(path) for path in spec["writable"] if os.path.exists(path)}
        self._tmp = _hold(spec["tmp"])

    def build(self) -> None:
        _mount("none", "/", "", _MS_REC | _MS_PRIVATE)
        self._mount_view()
        view = _hold(self._folder)
        _library.set_attributes("/", _ATTR_RDONLY | _ATTR_NODEV | _ATTR_NOSUID, 0, deep=True)
        self._build_devices()
        for place in ("/tmp", "/var/tmp"):  # noqa: S108 - the private ones are put there
            if os.path.isdir(place):
                self._bind(self._tmp, place)
        for path, fd in self._writable.items():
            self._make_place(path, fd)
            self._bind(fd, path)
        for path in (*_DAEMONS, f"/run/user/{os.getuid()}", *self._spec["hidden"]):
            self._hide(path)
        self._make_place(self._folder, view)
        self._bind(view, self._folder)

    def _mount_view(self) -> None:
        spec = self._spec
        if spec["how"] == "copy":
            _mount(spec["copy"], self._folder, "", _MS_BIND)
            return
        lower, folder = spec["lower"], self._folder
        _mount("tmpfs", lower, "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=755")
        _make_whiteout(f"{lower}/{_TRIAL}")
        if os.path.exists(spec["files"]):
            _spread_base(spec, lower)
        # By descriptor, so that no name needs quoting in the options.
        layers = [_by(_hold(path)) for path in (lower, folder, spec["upper"], spec["work"])]
        options = "lowerdir={}:{},upperdir={},workdir={},userxattr".format(*layers)
        _mount("overlay", folder, "overlay", _MS_NOSUID | _MS_NODEV, options)

    def _build_devices(self) -> None:
        _mount("tmpfs", "/dev", "tmpfs", _MS_NOSUID, "mode=755,size=64k")
        for name, fd in self._devices.items():
            os.close(os.open(f"/dev/{name}", os.O_CREAT | os.O_WRONLY, 0o666))
            _mount(_by(fd), f"/dev/{name}", "", _MS_BIND)
            _library.set_attributes(f"/dev/{name}", 0, _ATTR_RDONLY | _ATTR_NODEV)
        for name, target in _DEVICE_LINKS.items():
            os.symlink(target, f"/dev/{name}")
        os.mkdir(_SHARED_MEMORY, 0o1777)
        _mount("tmpfs", _SHARED_MEMORY, "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=1777,size=256m")
        os.mkdir("/dev/pts")
        _mount("devpts", "/dev/pts", "devpts", _MS_NOSUID | _MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620")
        _library.set_attributes("/dev", _ATTR_RDONLY, 0)

    def _bind(self, fd: int, target: str) -> None:
        _mount(_by(fd), target, "", _MS_BIND)
        _library.set_attributes(target, 0, _ATTR_RDONLY)

    def _make_place(self, path: str, fd: int) -> None:
        """Create a mount point if it is missing, as one below /tmp is once the private /tmp covers it."""
        if os.path.lexists(path):
            return
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            os.makedirs(path)
        else:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))

    def _hide(self, path: str) -> None:
        if os.path.isdir(path):
            _mount("tmpfs", path, "tmpfs", _MS_RDONLY | _MS_NOSUID | _MS_NODEV, "mode=755,size=4k")
        elif os.path.exists(path):
            _mount("/dev/null", path, "", _MS_BIND)


def _spread_base(spec: Spec, lower: str) -> None:
    """Put the texts that the program sees, and whiteouts for what it does not, where they cover the folder's own."""
    with open(spec["files"], encoding="utf-8") as file:
        files: dict[str, list[Any]] = json.load(file)["files"]
    made = {""}
    with open(spec["base"], "rb") as base:
        for path, (kind, mode, size, mtime_ns, at) in files.items():
            if kind == "other":
                continue
            _make_folders(path.rpartition("/")[0], spec["folder"], lower, made)
            if kind == "hidden":
                _make_whiteout(f"{lower}/{path}")
                continue
            base.seek(at)
            fd = os.open(f"{lower}/{path}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            os.write(fd, base.read(size))
            os.fchmod(fd, mode | stat.S_IRUSR)
            os.utime(fd, ns=(mtime_ns, mtime_ns))
            os.close(fd)


def _make_folders(path: str, folder: str, lower: str, made: set[str]) -> None:
    """Create a folder like the real one, which it will cover, and its parents."""
    if path in made:
        return
    made.add(path)
    _make_folders(path.rpartition("/")[0], folder, lower, made)
    os.mkdir(f"{lower}/{path}")
    with suppress(OSError):  # if there is none, a new document is proposed in it
        os.chmod(f"{lower}/{path}", stat.S_IMODE(os.stat(f"{folder}/{path}").st_mode) | stat.S_IRWXU)


def _make_whiteout(path: str) -> None:
    """What overlayfs takes for a deleted file: a device 0:0. Anybody may create one."""
    os.mknod(path, stat.S_IFCHR, os.makedev(0, 0))


def _hold(path: str) -> int:
    return os.open(path, os.O_PATH | os.O_CLOEXEC)


def _by(fd: int) -> str:
    return f"/proc/self/fd/{fd}"


def _mount_processes() -> None:
    """Mount our own `/proc`. A container may forbid it; then the old one stays, in which others cannot be opened
    anyway.

    The kernel's switches are read-only for everybody: who is an ordinary user here may be root outside.
    """
    with suppress(OSError):
        _mount("proc", "/proc", "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)
    for name in _KERNEL_SWITCHES:
        path = f"/proc/{name}"
        if os.path.exists(path):
            _mount(path, path, "", _MS_BIND | _MS_REC)
            _library.set_attributes(path, _ATTR_RDONLY, 0, deep=True)


# What applies to the program in any case


def _give_up_powers() -> None:
    """From here on nothing that is started gains privileges: no capability, no setuid program, no input to the terminal
    in the person's name."""
    for capability in range(64):
        if capability not in _KEPT_CAPABILITIES:
            with suppress(OSError):
                _library.call("prctl", _PR_CAPBSET_DROP, capability, 0, 0, 0)
    _library.call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    with suppress(OSError):
        _forbid_typing()


def _forbid_typing() -> None:
    """A seccomp filter that refuses the two ioctls with which a program puts keys into its terminal's input."""
    known = _IOCTL.get(os.uname().machine)
    if known is None:
        return
    architecture, ioctl = known
    load, equal, give = 0x20, 0x15, 0x06
    refuse, allow = 0x00050000 | errno.EPERM, 0x7FFF0000
    code = [
        (load, 0, 0, 4),
        (equal, 0, 6, architecture),
        (load, 0, 0, 0),
        (equal, 0, 4, ioctl),
        (load, 0, 0, 24),
        (equal, 1, 0, _TIOCSTI),
        (equal, 0, 1, _TIOCLINUX),
        (give, 0, 0, refuse),
        (give, 0, 0, allow),
    ]
    filters = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *each) for each in code))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(code), ctypes.addressof(filters)))
    _library.call("prctl", _PR_SET_SECCOMP, _SECCOMP_FILTER, ctypes.addressof(program), 0, 0)


def _restrict_writes(spec: Spec) -> None:
    """Landlock: allow writes only to these places."""
    version = _library.call("syscall", _SYS_LANDLOCK_CREATE, None, 0, 1)
    rights = sum(1 << right for right in _WRITE_RIGHTS if right < 13 or version >= right - 11)
    handled = ctypes.create_string_buffer(struct.pack("QQ", rights, 0), 16)
    rules = _library.call("syscall", _SYS_LANDLOCK_CREATE, ctypes.addressof(handled), 8, 0)
    places = [spec["copy"], spec["tmp"], *spec["writable"], _SHARED_MEMORY, "/dev/pts", "/dev/ptmx"]
    for path in (*places, *(f"/dev/{name}" for name in _DEVICES)):
        if os.path.exists(path):
            allowed = rights if os.path.isdir(path) else rights & _FILE_RIGHTS
            rule = ctypes.create_string_buffer(struct.pack("=Qi", allowed, _hold(path)))
            _library.call("syscall", _SYS_LANDLOCK_ADD, rules, 1, ctypes.addressof(rule), 0)
    _library.call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _library.call("syscall", _SYS_LANDLOCK_RESTRICT, rules, 0)


# Running the program


class _Sandbox:
    """One run: this process waits outside, the program runs inside."""

    def __init__(self, spec: Spec, command: list[str]) -> None:
        self._spec = spec
        self._command = command
        self._confined = spec["confinement"] == "namespace"
        self._report = os.open(spec["report"], os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._child = 0

    def run(self) -> int:
        self._end_with_parent(signal.SIGKILL if self._confined else END_NOW, self._spec["parent"])
        for number in (signal.SIGINT, signal.SIGQUIT):
            signal.signal(number, signal.SIG_IGN)  # the terminal sends them to the program as well, which decides
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._pass_on)
        signal.signal(END_NOW, self._end_now)
        try:
            self._enter()
        except OSError as error:
            self.tell(failed=str(error.strerror or error))
            return NOT_STARTED
        ready, go = os.pipe()  # the child waits until we know its number, so that every signal reaches it
        self._child = os.fork()
        if self._child == 0:
            os.close(go)
            os.read(ready, 1)
            self._begin()
        os.close(ready)
        os.close(go)
        _, status = os.waitpid(self._child, 0)
        if not self._confined:
            _end_descendants()
            self.tell(**_ending(status))
        return _exit_status(status)

    def _enter(self) -> None:
        if self._confined:
            _enter_namespaces()
            _Tree(self._spec).build()
        else:
            with suppress(OSError):
                _library.call("prctl", _PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        os.chdir(self._spec["directory"])

    def _begin(self) -> NoReturn:
        """In the child: as the first process of its namespace, or as the program itself."""
        try:
            self._end_with_parent(signal.SIGKILL, None)
            if not self._confined:
                self._execute()
            _mount_processes()
            self._child = os.fork()
            if self._child == 0:
                self._execute()
        except OSError as error:
            self.tell(failed=str(error.strerror or error))
            os._exit(NOT_STARTED)
        while True:  # the first process inherits orphans
            ended, status = os.wait()
            if ended == self._child:
                self.tell(**_ending(status))
                os._exit(_exit_status(status))

    def _execute(self) -> NoReturn:
        for number in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP, END_NOW, *_IGNORED_BY_PYTHON):
            signal.signal(number, signal.SIG_DFL)
        limit = self._spec["bytes"]
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        try:
            if self._spec["confinement"] == "landlock":
                _restrict_writes(self._spec)
            if self._spec["confinement"] != "none":
                _give_up_powers()
        except OSError as error:
            self.tell(failed=str(error.strerror or error))
            os._exit(NOT_STARTED)
        self.tell(started=True)
        try:
            os.execvp(self._command[0], self._command)  # noqa: S606 - to start a program is what this is for
        except OSError as error:
            status = NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
            self.tell(not_started=str(error.strerror), exit=status)
            os._exit(status)

    def tell(self, **what: Any) -> None:
        os.write(self._report, json.dumps(what).encode() + b"\n")

    def _pass_on(self, number: int, _frame: Any) -> None:
        if self._child:
            with suppress(ProcessLookupError):
                os.kill(self._child, number)

    def _end_now(self, _number: int, _frame: Any) -> None:
        if self._child:
            with suppress(ProcessLookupError):
                os.kill(self._child, signal.SIGKILL)
        else:
            os._exit(SIGNALLED + signal.SIGKILL)

    def _end_with_parent(self, number: int, parent: int | None) -> None:
        with suppress(OSError):
            _library.call("prctl", _PR_SET_PDEATHSIG, number, 0, 0, 0)
        if parent is not None and os.getppid() != parent:  # it ended before we asked
            os._exit(NOT_STARTED)


def _end_descendants() -> None:
    """Kill whatever the program left: as its subreaper we inherit all of it, also what began a new session."""
    while True:
        for child in _children(os.getpid()):
            _end_tree(child)
        try:
            os.wait()
        except ChildProcessError:
            return


def _end_tree(process: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGSTOP)  # so that it starts nothing more while its children are looked up
    for child in _children(process):
        _end_tree(child)
    with suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def _children(process: int) -> list[int]:
    try:
        with open(f"/proc/{process}/task/{process}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def _ending(status: int) -> dict[str, int]:
    return {"signal": os.WTERMSIG(status)} if os.WIFSIGNALED(status) else {"exit": os.WEXITSTATUS(status)}


def _exit_status(status: int) -> int:
    return SIGNALLED + os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _check(spec: Spec) -> int:
    """Try everything except the program."""
    try:
        if spec["confinement"] == "namespace":
            _enter_namespaces()
            _Tree(spec).build()
        elif spec["confinement"] == "landlock":
            _restrict_writes(spec)
    except OSError as error:
        sys.stdout.write(str(error.strerror or error))
        return NOT_STARTED
    return 0


def main(arguments: list[str]) -> int:
    """`SPEC COMMAND ...` runs the program, `SPEC` alone says whether that is possible."""
    with open(arguments[0], encoding="utf-8") as file:
        spec: Spec = json.load(file)
    if not arguments[1:]:
        return _check(spec)
    return _Sandbox(spec, arguments[1:]).run()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
