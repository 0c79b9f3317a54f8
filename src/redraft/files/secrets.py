"""Which files hold secrets: known by their names, or by how they begin.

Of such a file Redraft gives the name and a sentence, never a byte. A name is judged as the most forgiving disk would
read it (letter case, compatibility forms, trailing dots, stream suffixes) and without the suffixes that backups get.
Prose about secrets is prose: `credentials-policy.md` and `secretary-notes.md` are documents. When in doubt a data file
is a secret: `.env.example` usually is none, but nothing in its name proves it.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

from redraft.files.paths import REMEMBERED, fold_variants, name_set

# Any file beneath these is a secret: keys, tokens and sessions of other programs.
_FOLDERS = name_set(
    ".1password .aws .azure .chef .electrum .envs .gcloud .gnupg .kube .oci .password-store .secrets .ssh"
    " .terraform.d .vault"
)
_FOLDER_PAIRS = frozenset(
    {(".config", name) for name in ("age", "containers", "doctl", "gcloud", "gh", "hub", "op", "rclone", "sops")}
    | {(".cargo", "credentials.toml"), (".docker", "config.json"), (".m2", "settings.xml")}
)

_NAMES = name_set(
    ".authinfo .authinfo.gpg .boto .dockercfg .dockerconfigjson .fetchmailrc .git-credentials .htdigest .htpasswd"
    " .msmtprc .my.cnf .mylogin.cnf .netrc _netrc .npmrc .pgpass pgpass.conf .pypirc .rediscli_auth .s3cfg"
    " .smbcredentials .terraformrc terraform.rc .vault-token .vault_pass .vault_pass.txt kubeconfig"
    " local.settings.json secring.gpg secring.pgp secring.asc wp-config.php"
    # what was typed at a prompt, passwords among it
    " .bash_history .irb_history .mysql_history .node_repl_history .psql_history .python_history .rediscli_history"
    " .sh_history .sqlite_history .zsh_history"
)

_EXTENSIONS = name_set(
    "agekey bcfks env jceks jks kdb kdbx key keychain keychain-db keystore keytab ovpn p12 p8 pem pfx pk8 pkcs12 ppk"
    " tfstate tfvars"
)

# A file is not prose, and may hold what its name says, when it has one of these extensions or none.
_DATA_EXTENSIONS = name_set("cfg conf config csv enc ini json json5 jsonc plist properties sops toml xml yaml yml") | {
    ""
}
_TELLING_WORDS = name_set("apikey apikeys credential credentials creds passwd password passwords secret secrets")
_PROSE = (".md", ".markdown", ".txt", ".rst", ".adoc", ".org", ".tex", ".html")

_KEY_KINDS = ("rsa", "dsa", "ecdsa", "ed25519", "ed448", "xmss")
_BACKUP_SUFFIXES = ("~", ".bak", ".backup", ".old", ".orig", ".save", ".swp", ".swo", ".tmp", ".copy", ".1", ".2")

_KEY_BEGINNINGS = (b"PuTTY-User-Key-File-", b"AGE-SECRET-KEY-1", b"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY")


@lru_cache(maxsize=REMEMBERED)
def is_secret_name(path: str) -> bool:
    """Whether the file at `path` is taken for a secret, by its name and the folders above it."""
    *folders, name = path.split("/")
    if any(variant in _FOLDERS for folder in folders for variant in fold_variants(folder)):
        return True
    if folders and _is_secret_pair(folders, name):
        return True
    return any(_is_secret_file(_without_backup_suffix(variant)) for variant in fold_variants(name))


def _is_secret_pair(folders: list[str], name: str) -> bool:
    folded = [fold_variants(part)[-1] for part in (*folders, name)]
    return any(pair in _FOLDER_PAIRS for pair in pairwise(folded))


def _without_backup_suffix(name: str) -> str:
    name = name.removeprefix("#").removesuffix("#").removeprefix(".#")
    if name.startswith(".") and name.endswith((".swp", ".swo")) and not name.startswith((".env", ".netrc")):
        name = name[1:]  # vim's swap file of x.pem is .x.pem.swp
    while name.endswith(_BACKUP_SUFFIXES):
        shorter = name[:-1] if name.endswith("~") else name.rpartition(".")[0]
        if not shorter:
            break
        name = shorter
    return name


def _is_secret_file(name: str) -> bool:
    stem, dot, extension = name.rpartition(".")
    if not dot:
        stem, extension = name, ""
    return (
        name in _NAMES
        or extension in _EXTENSIONS
        or _is_environment(name)
        or _is_private_key(name)
        or _is_credentials(stem, extension)
        or name.endswith((".tfstate.backup", ".tfvars.json"))
    )


def _is_environment(name: str) -> bool:
    """`.env` and everything that begins so, except for prose like `.environment.md`."""
    if not name.startswith(".env"):
        return False
    return not (name[4:5].isalpha() and name.endswith(_PROSE))


def _is_private_key(name: str) -> bool:
    """`id_rsa`, `id_ed25519.old`, `deploy_rsa`, `ssh_host_rsa_key`; not the public half, and not `id_card.md`."""
    if name.endswith(".pub"):
        return False
    if name.startswith("id_"):
        rest = name[3:]
        return any(rest.startswith(kind) and not rest[len(kind) : len(kind) + 1].isalpha() for kind in _KEY_KINDS)
    if name.startswith("ssh_host_") and name.endswith("_key"):
        return True
    if name.endswith(".asc"):
        return any(word in name for word in ("private", "secret"))
    return name.endswith(tuple(f"{mark}{kind}" for mark in "_-" for kind in _KEY_KINDS))


def _is_credentials(stem: str, extension: str) -> bool:
    """A data file that is named for what it holds: `aws-credentials.json`, `client_secret_7.json`, `secrets.yaml`."""
    if extension not in _DATA_EXTENSIONS:
        return False
    words = stem.replace("-", "_").replace(".", "_").replace(" ", "_").strip("_").split("_")
    if "_".join(words).startswith(("service_account", "serviceaccount", "client_secret", "firebase_adminsdk")):
        return bool(extension)
    return words[-1] in _TELLING_WORDS or words[0] in {"credentials", "secrets"}


def is_secret_content(head: bytes) -> bool:
    """Whether a file that begins with `head` (a few kilobytes suffice) is a private key, whatever its name."""
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith((b"-----BEGIN", b"Bag Attributes", b"{")):
        # A certificate may come first, and a cloud account's key lies in JSON.
        return _has_private_key(text)
    if _has_key_below(text):
        return True
    told = any(beginning in text for beginning in _KEY_BEGINNINGS)  # which nearly always spares looking line by line
    return told and any(line.startswith(_KEY_BEGINNINGS) for line in text.splitlines())


def _has_key_below(text: bytes) -> bool:
    """Whether a private key stands below a few other lines: its header at a line's start, and key material under it."""
    begin = text.find(b"\n-----BEGIN ")
    while begin >= 0:
        header, _, body = text[begin + 1 :].partition(b"\n")
        first = body.partition(b"\n")[0].strip()
        if _has_private_key(header) and ((len(first) >= 40 and b" " not in first) or b":" in first):
            return True
        begin = text.find(b"\n-----BEGIN ", begin + 1)
    return False


def _has_private_key(text: bytes) -> bool:
    begin = text.find(b"-----BEGIN ")
    while begin >= 0:
        title = text[begin + 11 : begin + 75].partition(b"-----")[0]
        if title.endswith((b"PRIVATE KEY", b"PRIVATE KEY BLOCK")) and (text[:1] != b"{" or b'"private_key"' in text):
            return True
        begin = text.find(b"-----BEGIN ", begin + 11)
    return False


def mask(name: str) -> str:
    """What is given in the place of a secret's content."""
    return f"[{name} may hold a secret: its content is withheld]"
