"""Which files are taken for secrets, by name and by content."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from redraft.files.secrets import is_secret_content, is_secret_name, mask

SECRET_NAMES = """
.env .ENV .env.local .env.production .Env.example .env~ .env.bak .env-prod .envrc config/.env prod.env PROD.ENV
app/staging.env .env.swp .envs/.production/postgres .environment id_rsa id_dsa id_ecdsa id_ed25519 ID_RSA id_rsa.old
id_rsa_work id_ed25519_sk id_rsa.txt keys/id_ecdsa-2024 deploy_rsa github_ed25519 ssh_host_rsa_key server.pem SERVER.PEM
server.key server.key.bak tls/private.pem~ a.p12 a.pfx a.p8 a.jks a.keystore a.kdbx a.ppk a.keytab .netrc _netrc .npmrc
.pypirc .pgpass .htpasswd .git-credentials .dockercfg .aws/credentials .aws/config home/.ssh/config .ssh/known_hosts
.gnupg/pubring.kbx .azure/x.json .kube/config .KUBE/Config .docker/config.json .config/gcloud/x.db .config/gh/hosts.yml
credentials credentials.json credentials.yaml credentials.toml Credentials.INI aws-credentials.json app_secrets.yaml
secrets.yaml secrets.json secrets.toml secret.yml .secrets.yaml client_secret_123.json service-account.json
service-account-prod.json serviceAccountKey.json terraform.tfstate terraform.tfstate.backup prod.tfvars prod.tfvars.json
secring.asc my-private.asc .bash_history kubeconfig .vault-token wp-config.php passwords.csv vpn.ovpn a.pem.
.env::$DATA server.ｐem .ｅnv x:.env credentials.json.bak .server.pem.swp .#prod.env #prod.env#
.cargo/credentials.toml .m2/settings.xml
"""

DOCUMENT_NAMES = """
secretary-notes.md environment.md monkey.md keynote.md credentials-policy.md secret.md secrets.md secrets.txt
credentials.txt the-secret-garden.txt secret-santa.yaml id_card.md id_rsa.pub id_ed25519.pub identity.md idea.md
keys.md key.md hotkey.json turkey.txt donkey.yaml pem.md penv.md env.md env/readme.md environments/prod.md .gitignore
.editorconfig README.md notes/plan.md .environment-notes.md public.asc release.asc config.json docker/config.json
aws/notes.md ssh.md .docker/Dockerfile gcloud/readme.md credentialing.json secretariat.json compass.json passwordless.md
history.md bash_history.md service-level.json key-results.yaml package.json settings.xml persa.txt id_rsacard.md
tfstate.md kubernetes.yaml .config/readme.md event.json 日記.md été.md chapter-1.md token-economy.md vault.md oven.md
"""
SECRETS = [*SECRET_NAMES.split(), ".e\u200bnv", "id_rsa "]
DOCUMENTS = DOCUMENT_NAMES.split()


def test_the_tables_are_long_enough_to_mean_something() -> None:
    assert len(SECRETS) >= 60
    assert len(DOCUMENTS) >= 60


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_known_by_its_name(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_is_not_taken_for_a_secret(name: str) -> None:
    assert not is_secret_name(name)


@pytest.mark.covers("RD-files-secrets")
@given(st.sampled_from(SECRETS), st.lists(st.sampled_from(["a", "Docs", "x.y"])))
def test_neither_folders_above_nor_letter_case_hide_a_secret(name: str, above: list[str]) -> None:
    for spelling in (name, name.upper(), name.title()):
        assert is_secret_name("/".join([*above, spelling]))


@pytest.mark.parametrize(
    "head",
    [
        b"-----BEGIN PRIVATE KEY-----\nMIIE",
        b"-----BEGIN RSA PRIVATE KEY-----\n",
        b"\xef\xbb\xbf \r\n-----BEGIN OPENSSH PRIVATE KEY-----\n",
        b"-----BEGIN ENCRYPTED PRIVATE KEY-----",
        b"-----BEGIN PGP PRIVATE KEY BLOCK-----\n",
        b"-----BEGIN CERTIFICATE-----\nMII\n-----END CERTIFICATE-----\n-----BEGIN EC PRIVATE KEY-----\n",
        b"Bag Attributes\n  localKeyID\n-----BEGIN PRIVATE KEY-----\n",
        b"PuTTY-User-Key-File-2: ssh-rsa\n",
        b"AGE-SECRET-KEY-1QQQQ",
        b"# created: 2024-01-01\n# public key: age1xyz\nAGE-SECRET-KEY-1QQQQ",
        b"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----",
        b'{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----\\nMII"}',
    ],
)
def test_a_private_key_is_known_by_its_beginning(head: bytes) -> None:
    assert is_secret_content(head)


@pytest.mark.parametrize(
    "head",
    [
        b"",
        b"# Keys\n\nA key begins with\n\n    -----BEGIN PRIVATE KEY-----\n",
        b"-----BEGIN CERTIFICATE-----\nMII",
        b"-----BEGIN PGP PUBLIC KEY BLOCK-----\n",
        b"ssh-rsa AAAA person@host",
        b'{"note": "-----BEGIN PRIVATE KEY-----"}',
        b"-----BEGIN ",
        b"# only\n# comments",
    ],
)
def test_writing_about_keys_is_no_key(head: bytes) -> None:
    assert not is_secret_content(head)


@given(st.binary(max_size=200), st.text(max_size=40))
def test_any_content_and_any_name_can_be_judged(head: bytes, name: str) -> None:
    assert is_secret_content(head) in {True, False}
    assert is_secret_name(name) in {True, False}


def test_the_mask_names_the_file_and_says_that_its_content_is_withheld() -> None:
    assert "prod.env" in mask("prod.env")
    assert "withheld" in mask("prod.env")


def test_a_key_is_known_below_any_line() -> None:
    for key in (b"AGE-SECRET-KEY-1QQQQQQQQ", b"PuTTY-User-Key-File-3: ssh-ed25519"):
        assert is_secret_content(b"my note\n\n" + key)
        assert not is_secret_content(b"Files that begin with " + key + b" are keys.\n")
