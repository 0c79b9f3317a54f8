"""What is secret: files, by their names, by how they begin, or by a private key in them; and credentials in a call.

Redraft shows the name of such a file and a sentence, never a byte. A name is judged as the most lenient disk would
read it (letter case, compatibility forms, trailing dots, stream suffixes) and without backup suffixes. Prose about
secrets is prose: `credentials-policy.md` and `secretary-notes.md` are documents. So is `secrets.md`, which in a
documentation folder is a page about secrets; a plain text whose whole name is such a word, `secrets.txt`, is not. When
in doubt a data file is a secret: `.env.example` usually is none, but nothing in its name proves it.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Any, cast

from redraft.errors import Forbidden
from redraft.files.paths import REMEMBERED, fold_variants, name_set

SECRET_HEAD = 4096  # this much of a file's beginning shows whether it is a key
KEY_MARK = b"PRIVATE KEY"  # without these words there is no PEM key further down
# How long the kind of a key ("ENCRYPTED") and the indentation of its header may be, and how much below is checked.
MOST_LABEL, MOST_INDENT, MOST_KEY_LINES = 64, 64, 256

# Any file below these is a secret: keys, tokens and sessions of other programs.
_FOLDERS = name_set(
    ".1password .age .aws .azure .bitcoin .chef .cloudflared .databricks .electrum .envs .ethereum .gcloud .git-crypt"
    " .gnupg .gsutil .kube .mcp-auth .mozilla .oci .openai .password-store .secrets .snowflake .snowsql .ssh"
    " .terraform.d .thunderbird .vault private-keys-v1.d"
)
# A folder, and what in it is a secret: a subfolder, or one file.
_FOLDER_PAIRS = frozenset(
    {
        (".config", name)
        for name in name_set(
            "age aichat anthropic bitwarden borg bravesoftware chromium configstore containers doctl gcloud gh"
            " github-copilot glab-cli google-chrome hcloud hub ngrok op rclone solana sops stripe travis"
        )
    }
    | {
        (".bundle", "config"),
        (".cargo", "credentials.toml"),
        (".circleci", "cli.yml"),
        (".continue", "config.json"),
        (".continue", "config.yaml"),
        (".copilot", "config.json"),
        (".dbt", "profiles.yml"),
        (".docker", "config.json"),
        (".expo", "state.json"),
        (".factory", "config.json"),
        (".fly", "config.yml"),
        (".gemini", "google_accounts.json"),
        (".gradle", "gradle.properties"),
        (".hex", "hex.config"),
        (".irssi", "config"),
        (".m2", "settings.xml"),
        (".m2", "settings-security.xml"),
        (".mc", "config.json"),
        (".netlify", "config.json"),
        (".ngrok2", "ngrok.yml"),
        (".nuget", "nuget.config"),
        (".purple", "accounts.xml"),
        (".railway", "config.json"),
        (".vscode", "sftp.json"),
        ("io.datasette.llm", "keys.json"),
        ("redraft", "keys.json"),
        ("share", "keyrings"),
    }
)

_NAMES = name_set(
    # package managers, clouds, databases, mail
    ".authinfo .authinfo.gpg .boto .coveralls.yml .databricks.cfg .databrickscfg .davmail.properties .dockercfg"
    " .dockerconfigjson .esmtprc .fetchmailrc .git-credentials .htdigest .htpasswd .mbsyncrc .msmtprc .my.cnf"
    " .mylogin.cnf .netrc _netrc .netrc.gpg .npmrc .offlineimaprc .passwd-s3fs .pgpass pgpass.conf .pypirc"
    " .rediscli_auth .s3cfg .sentryclirc .smbcredentials .terraformrc terraform.rc .trc .twurlrc .vault-token"
    " .vault_pass .vault_pass.txt vault_pass.txt rclone.conf .rclone.conf kaggle.json kubeconfig local.settings.json"
    " key.properties keystore.properties azureauth.json wp-config.php"
    # environments by other names than .env
    " .dev.vars .flaskenv"
    # keys and networks
    " cwallet.sso gshadow ipsec.secrets master.passwd ntds.dit proftpdpasswd secring.gpg secring.pgp secring.asc shadow"
    " tailscaled.state wallet.dat wpa_supplicant.conf"
    # browsers and file transfer
    " cert9.db cookies.sqlite filezilla.xml .ftpconfig key3.db key4.db logins.json logins-backup.json recentservers.xml"
    " sftp-config.json signons.sqlite sitemanager.xml winscp.ini ws_ftp.ini"
    # agents
    " .claude.json"
    # shell and prompt histories, which may contain passwords
    " .ash_history .bash_history .dbshell .histfile .irb_history .ksh_history .mysql_history .node_repl_history"
    " .psql_history .python_history .rediscli_history .sh_history .sqlite_history .zhistory .zsh_history fish_history"
) | {"login data", "web data"}

_EXTENSIONS = name_set(
    "1pif 1pux agekey agilekeychain azureauth bcfks credentials env jceks jks jwk kdb kdbx key keychain keychain-db"
    " keyring keystore keytab kwallet nmconnection opvault ovpn p12 p8 pem pfx pk8 pkcs12 ppk psafe3 publishsettings"
    " pvk secret secrets snk tfstate tfvars token wallet"
)

# With one of these extensions or none, a file is not prose, and may contain what its name says.
_DATA_EXTENSIONS = name_set("cfg conf config csv enc ini json json5 jsonc plist properties sops toml xml yaml yml") | {
    ""
}
_TELLING_WORDS = name_set(
    "accesskey accesskeys accesstoken accesstokens apikey apikeys apitoken credential credentials creds passwd password"
    " passwords rootkey secret secrets token tokens"
)
_TELLING_PAIRS = name_set(
    "access_key access_keys api_key api_keys encryption_key gcp_key private_key sa_key secret_key load_signing_key"
    " token_cache"
)
# The whole name of a plain text that contains one; its words may be joined or not. Only the whole name counts: an app's
# texts are called reset-password.txt, and stories the-secret.txt.
_PLAIN_NAMES = name_set(
    "accesskey accesskeys accesstoken accesstokens apikey apikeys apitoken apitokens backupcodes credential credentials"
    " creds encryptionkey passphrase passphrases passwd password passwords privatekey privatekeys recoverycodes"
    " recoverykey recoveryphrase rootkey secret secretkey secretkeys secrets seedphrase signingkey sshkey sshkeys token"
    " tokens"
)
_PLAIN_EXTENSIONS, _NOTE_EXTENSIONS = name_set("txt text"), name_set("md markdown org")
_LETTERS = re.compile(r"[^\W\d_]+")
# The values of a design, and the words of a language model, are called tokens too.
_HARMLESS_TOKENS = name_set("added color colour design special spacing style theme typography")
# Where this name is a program's login. Elsewhere it may be an app's texts: locales/en/auth.json.
_LOGIN_FILE, _LOGIN_FOLDERS = "auth.json", name_set("codex composer containers opencode")
_PROSE = (".md", ".markdown", ".txt", ".rst", ".adoc", ".org", ".tex", ".html")

_KEY_KINDS = ("rsa", "dsa", "ecdsa", "ed25519", "ed448", "xmss")
_BACKUP_SUFFIXES = ("~", ".bak", ".backup", ".old", ".orig", ".save", ".swp", ".swo", ".tmp", ".copy", ".1", ".2")

_KEY_BEGINNINGS = (b"PuTTY-User-Key-File-", b"AGE-SECRET-KEY-1", b"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY")
# A browser's sessions, in the format of curl and others.
_COOKIE_JARS = (b"# Netscape HTTP Cookie File", b"# HTTP Cookie File")


@lru_cache(maxsize=REMEMBERED)
def is_secret_name(path: str) -> bool:
    """Whether the file at `path` counts as a secret, by its name and the folders above it."""
    *folders, name = path.split("/")
    if any(variant in _FOLDERS for folder in folders for variant in fold_variants(folder)):
        return True
    if folders and _is_secret_pair(folders, name):
        return True
    if _is_login(folders, name):
        return True
    return any(_is_secret_file(_without_backup_suffix(variant)) for variant in fold_variants(name))


def _is_secret_pair(folders: list[str], name: str) -> bool:
    folded = [fold_variants(part)[-1] for part in (*folders, name)]
    return any(pair in _FOLDER_PAIRS for pair in pairwise(folded))


def _is_login(folders: list[str], name: str) -> bool:
    """`.codex/auth.json` and the like; `auth.json` without such a folder is composer's."""
    if all(_without_backup_suffix(variant) != _LOGIN_FILE for variant in fold_variants(name)):
        return False
    above = [fold_variants(folder)[-1] for folder in folders]
    return not above or above[-1] in _LOGIN_FOLDERS or any(folder.startswith(".") for folder in above)


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
    extension = name.rpartition(".")[2] if "." in name else ""
    return (
        name in _NAMES
        or extension in _EXTENSIONS
        or _is_environment(name)
        or _is_private_key(name)
        or _is_credentials(name)
        or _is_plain_secret(name)
        or name.startswith((".dev.vars.", "bitwarden_export", "lastpass_export", "utc--"))
        or name.endswith((".tfstate.backup", ".tfvars.json", "recovery-codes.txt"))
        or _is_wireguard(name)
    )


def _is_wireguard(name: str) -> bool:
    """`wg0.conf`, which contains the private key of the interface."""
    return name.startswith("wg") and name.endswith(".conf") and name[2:-5].isdigit()


def _is_environment(name: str) -> bool:
    """`.env` and everything that begins like it, except for prose like `.environment.md`."""
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


def _is_credentials(name: str) -> bool:
    """A data file that is named after its content: `aws-credentials.json`, `client_secret_7.json`, `.token`."""
    plain = name.lstrip(".")
    stem, dot, extension = plain.rpartition(".")
    if not dot:
        stem, extension = plain, ""
    if extension not in _DATA_EXTENSIONS:
        return False
    words = stem.replace("-", "_").replace(".", "_").replace(" ", "_").strip("_").split("_")
    whole = "_".join(words)
    if whole.startswith(("service_account", "serviceaccount", "client_secret")) or "firebase_adminsdk" in whole:
        return bool(extension)
    if words[-1] == "tokens" and (extension == "csv" or not _HARMLESS_TOKENS.isdisjoint(words)):
        return False
    return (
        words[-1] in _TELLING_WORDS or words[0] in {"credentials", "secrets"} or "_".join(words[-2:]) in _TELLING_PAIRS
    )


def _is_plain_secret(name: str) -> bool:
    """`secret.txt`, `My passwords (2).txt`, `api-keys.txt`; of notes, only `passwords.md`."""
    stem, _, extension = name.rpartition(".")
    if extension not in _PLAIN_EXTENSIONS | _NOTE_EXTENSIONS:
        return False
    words = _LETTERS.findall(stem)
    whole = "".join(words[1:] if words[:1] == ["my"] else words)
    return whole in _PLAIN_NAMES if extension in _PLAIN_EXTENSIONS else whole == "passwords"


def is_secret_content(data: bytes) -> bool:
    """Whether a file begins like a private key or a cookie jar, or contains a private key anywhere, whatever its
    name."""
    return _begins_secret(data[:SECRET_HEAD]) or _has_key_below(data)


def _begins_secret(head: bytes) -> bool:
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if text.startswith(_COOKIE_JARS):
        return True
    if text.startswith((b"-----BEGIN", b"Bag Attributes", b"{")):
        # A certificate may come first, and a cloud account's key is inside JSON.
        return _has_private_key(text)
    found = any(beginning in text for beginning in _KEY_BEGINNINGS)  # which nearly always avoids a search line by line
    return found and any(line.startswith(_KEY_BEGINNINGS) for line in text.splitlines())


def _has_key_below(text: bytes) -> bool:
    """Whether there is a private key below other lines: its header on a line of its own, perhaps indented or quoted,
    with key material below it. Every document is searched whenever it is read, so this takes one step for each header
    and copies nothing but the lines next to it."""
    mark = text.find(KEY_MARK)
    while mark >= 0:
        begin = text.rfind(b"-----BEGIN ", max(mark - MOST_LABEL, 0), mark)
        if begin >= 0 and b"\n" not in text[begin:mark] and _has_key_lines(text, begin, mark):
            return True
        mark = text.find(KEY_MARK, mark + len(KEY_MARK))
    return False


def _has_key_lines(text: bytes, begin: int, mark: int) -> bool:
    """Whether the header that begins here is alone on its line, and the next line looks like a key."""
    before = text[max(begin - MOST_INDENT, 0) : begin].rpartition(b"\n")[2]
    header, _, below = text[mark : mark + MOST_KEY_LINES].partition(b"\n")
    title = header[len(KEY_MARK) :].strip()
    first = below.partition(b"\n")[0].strip(b" \t\r>")
    alone = not before.strip(b" \t>") and title in (b"-----", b" BLOCK-----", b"BLOCK-----")
    return alone and ((len(first) >= 40 and b" " not in first) or b":" in first)


def _has_private_key(text: bytes) -> bool:
    begin = text.find(b"-----BEGIN ")
    while begin >= 0:
        title = text[begin + 11 : begin + 75].partition(b"-----")[0]
        if title.endswith((b"PRIVATE KEY", b"PRIVATE KEY BLOCK")) and (text[:1] != b"{" or b'"private_key"' in text):
            return True
        begin = text.find(b"-----BEGIN ", begin + 11)
    return False


def secret_error(path: str) -> Forbidden:
    """The refusal to show a secret."""
    return Forbidden(mask(path), code="secret", path=path)


def check_name_not_secret(path: str) -> None:
    """Refuse a path whose name says that it contains keys or passwords."""
    if is_secret_name(path):
        raise secret_error(path)


def check_file_not_secret(path: str, data: bytes) -> None:
    """Refuse a file that is a secret by its name or by its content."""
    if is_secret_name(path) or is_secret_content(data):
        raise secret_error(path)


def mask(name: str) -> str:
    """What is shown instead of a secret's content."""
    return f"[{name} may contain a secret: its content is withheld]"


# Mask credentials in what is shown or stored of a call, wherever they are: by the name of a field, or by the form of
# its text. What a tool or a model works with is not changed.


MASKED = "[masked]"
# Words in the name of a field whose value is a secret.
TELLING = frozenset(
    {"apikey", "auth", "authorization", "cookie", "credential", "credentials", "passphrase", "passwd", "password"}
    | {"secret", "token"}
)
# Credentials that are recognised by their prefix, also in the middle of prose.
CREDENTIAL = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----.*"  # and everything after it
    r"|\b(?:sk|pk|rk)[-_](?:[A-Za-z0-9]+[-_])*[A-Za-z0-9]{16,}"
    r"|\b(?:gh[opsur]|github_pat|glpat|xox[abops]|npm|pypi|hf)[-_][A-Za-z0-9_-]{16,}"
    r"|\bAKIA[0-9A-Z]{16}\b"
    r"|\bAIza[0-9A-Za-z_-]{35}"
    r"|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"
    r"|(?i:\bBearer\s+)[A-Za-z0-9._~+/=-]{16,}",
    re.DOTALL,
)
# The prefix of a credential whose end was cut off: too short to be recognised as above.
CUT_OFF = re.compile(
    r"(?:\b(?:[spr]k|gh[opsur]|github_pat|glpat|xox[abops]|npm|pypi|hf)[-_]|\bAKIA|\bAIza|\beyJ|(?i:\bBearer\s+))"
    r"[A-Za-z0-9._~+/=-]*(?=… \[\d+ more characters\]\Z)"
)


def mask_credentials(value: Any) -> Any:
    """A JSON value without what looks like a credential."""
    if isinstance(value, str):
        return CUT_OFF.sub(MASKED, CREDENTIAL.sub(MASKED, value))
    if isinstance(value, dict):
        table = cast("dict[str, Any]", value)
        return {
            name: MASKED if is_secret_field(name, inner) else mask_credentials(inner) for name, inner in table.items()
        }
    if isinstance(value, list):
        return [mask_credentials(inner) for inner in cast("list[Any]", value)]
    return value


def is_secret_field(name: str, value: Any) -> bool:
    """Whether a field of this name contains a secret."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).casefold().replace("-", "_").split("_")
    telling = not TELLING.isdisjoint(words) or "api_key" in "_".join(words) or "private_key" in "_".join(words)
    return telling and isinstance(value, str) and bool(value)
