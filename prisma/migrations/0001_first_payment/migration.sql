-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateEnum
CREATE TYPE "Environment" AS ENUM ('SANDBOX', 'PRODUCTION');

-- CreateEnum
CREATE TYPE "CustomerType" AS ENUM ('INDIVIDUAL', 'BUSINESS');

-- CreateEnum
CREATE TYPE "KycStatus" AS ENUM ('NOT_STARTED', 'PENDING_REVIEW', 'APPROVED', 'REJECTED', 'EXPIRED', 'CANCELED', 'MANUALLY_APPROVED', 'MANUALLY_REJECTED');

-- CreateEnum
CREATE TYPE "ExternalAccountStatus" AS ENUM ('PENDING', 'ACTIVE', 'UNDER_REVIEW', 'INACTIVE');

-- CreateEnum
CREATE TYPE "LockedCurrencySide" AS ENUM ('SENDING', 'RECEIVING');

-- CreateEnum
CREATE TYPE "EndpointType" AS ENUM ('INTERNAL_ACCOUNT', 'EXTERNAL_ACCOUNT', 'UMA_ADDRESS', 'REALTIME_FUNDING');

-- CreateEnum
CREATE TYPE "QuoteStatus" AS ENUM ('PENDING', 'PROCESSING', 'COMPLETED', 'FAILED', 'EXPIRED');

-- CreateEnum
CREATE TYPE "TransactionType" AS ENUM ('INCOMING', 'OUTGOING');

-- CreateEnum
CREATE TYPE "TransactionStatus" AS ENUM ('CREATED', 'PENDING', 'PROCESSING', 'SENT', 'COMPLETED', 'REJECTED', 'FAILED', 'REFUNDED', 'EXPIRED');

-- CreateEnum
CREATE TYPE "LedgerAccountKind" AS ENUM ('INTERNAL', 'IN_FLIGHT', 'FEES', 'COUNTERPARTY_FEES', 'FX_POSITION', 'CLEARING');

-- CreateEnum
CREATE TYPE "DeliveryStatus" AS ENUM ('PENDING', 'DELIVERED', 'FAILED');

-- CreateEnum
CREATE TYPE "SigningKeyStatus" AS ENUM ('ACTIVE', 'RETIRED');

-- CreateTable
CREATE TABLE "platform" (
    "id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "platform_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "world" (
    "id" UUID NOT NULL,
    "platform_id" UUID NOT NULL,
    "environment" "Environment" NOT NULL,
    "uma_domain" TEXT NOT NULL,
    "proxy_uma_subdomain" TEXT,
    "webhook_endpoint" TEXT,
    "is_regulated" BOOLEAN NOT NULL,
    "supported_currencies" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "version" INTEGER NOT NULL,

    CONSTRAINT "world_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_token" (
    "id" UUID NOT NULL,
    "world_id" UUID NOT NULL,
    "name" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "secret_hash" TEXT NOT NULL,
    "permissions" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "version" INTEGER NOT NULL,

    CONSTRAINT "api_token_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "signing_key" (
    "id" UUID NOT NULL,
    "world_id" UUID NOT NULL,
    "key_version" INTEGER NOT NULL,
    "public_key" TEXT NOT NULL,
    "private_key" TEXT NOT NULL,
    "status" "SigningKeyStatus" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "signing_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "customer" (
    "id" UUID NOT NULL,
    "world_id" UUID NOT NULL,
    "platform_customer_id" TEXT NOT NULL,
    "customer_type" "CustomerType" NOT NULL,
    "uma_address" TEXT NOT NULL,
    "kyc_status" "KycStatus" NOT NULL,
    "full_name" TEXT,
    "birth_date" TEXT,
    "nationality" TEXT,
    "email" TEXT,
    "address" JSONB,
    "business_info" JSONB,
    "beneficial_owners" JSONB,
    "is_deleted" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "version" INTEGER NOT NULL,

    CONSTRAINT "customer_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "internal_account" (
    "id" UUID NOT NULL,
    "world_id" UUID NOT NULL,
    "customer_id" UUID,
    "currency" TEXT NOT NULL,
    "funding_reference" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "internal_account_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "external_account" (
    "id" UUID NOT NULL,
    "world_id" UUID NOT NULL,
    "customer_id" UUID,
    "status" "ExternalAccountStatus" NOT NULL,
    "currency" TEXT NOT NULL,
    "platform_account_id" TEXT,
    "default_uma_deposit_account" BOOLEAN NOT NULL,
    "account_type" TEXT NOT NULL,
    "account_info" JSONB NOT NULL,
    "primary_identifier" TEXT NOT NULL,
    "fingerprint" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "version" INTEGER NOT NULL,

    CONSTRAINT "external_account_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "quote" (
    "id" UUID NOT NULL,
    "world_id" UUID NOT NULL,
    "transaction_id" UUID NOT NULL,
    "customer_id" UUID,
    "status" "QuoteStatus" NOT NULL,
    "source_type" "EndpointType" NOT NULL,
    "source_account_id" UUID,
    "source_uma_address" TEXT,
    "destination_type" "EndpointType" NOT NULL,
    "destination_account_id" UUID,
    "destination_uma_address" TEXT,
    "sending_currency" TEXT NOT NULL,
    "receiving_currency" TEXT NOT NULL,
    "locked_currency_side" "LockedCurrencySide" NOT NULL,
    "total_sending_amount" BIGINT NOT NULL,
    "total_receiving_amount" BIGINT NOT NULL,
    "exchange_rate" TEXT NOT NULL,
    "fees_included" BIGINT NOT NULL,
    "rate_details" JSONB NOT NULL,
    "payment_instructions" JSONB,
    "description" TEXT,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "executed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "version" INTEGER NOT NULL,

    CONSTRAINT "quote_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "transaction" (
    "id" UUID NOT NULL,
    "world_id" UUID NOT NULL,
    "type" "TransactionType" NOT NULL,
    "status" "TransactionStatus" NOT NULL,
    "customer_id" UUID,
    "platform_customer_id" TEXT,
    "quote_id" UUID,
    "source_type" "EndpointType" NOT NULL,
    "source_account_id" UUID,
    "source_uma_address" TEXT,
    "source_currency" TEXT NOT NULL,
    "destination_type" "EndpointType" NOT NULL,
    "destination_account_id" UUID,
    "destination_uma_address" TEXT,
    "destination_currency" TEXT NOT NULL,
    "sent_amount" BIGINT NOT NULL,
    "received_amount" BIGINT NOT NULL,
    "exchange_rate" TEXT,
    "fees" BIGINT NOT NULL,
    "rate_details" JSONB,
    "description" TEXT,
    "reference" TEXT NOT NULL,
    "counterparty_information" JSONB,
    "failure_reason" TEXT,
    "refund" JSONB,
    "settled_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "version" INTEGER NOT NULL,

    CONSTRAINT "transaction_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ledger_account" (
    "id" UUID NOT NULL,
    "world_id" UUID NOT NULL,
    "kind" "LedgerAccountKind" NOT NULL,
    "currency" TEXT NOT NULL,
    "balance" BIGINT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ledger_account_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ledger_entry" (
    "id" UUID NOT NULL,
    "world_id" UUID NOT NULL,
    "transaction_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "currency" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "ledger_entry_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ledger_posting" (
    "id" BIGSERIAL NOT NULL,
    "entry_id" UUID NOT NULL,
    "account_id" UUID NOT NULL,
    "amount" BIGINT NOT NULL,
    "balance_after" BIGINT,

    CONSTRAINT "ledger_posting_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "event" (
    "id" BIGSERIAL NOT NULL,
    "uuid" UUID NOT NULL,
    "position" BIGINT,
    "world_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "resource_id" TEXT NOT NULL,
    "customer_id" UUID,
    "payload" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "event_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "follower" (
    "name" TEXT NOT NULL,
    "position" BIGINT NOT NULL,

    CONSTRAINT "follower_pkey" PRIMARY KEY ("name")
);

-- CreateTable
CREATE TABLE "task" (
    "id" UUID NOT NULL,
    "world_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "subject_id" UUID NOT NULL,
    "due_at" TIMESTAMPTZ(3) NOT NULL,
    "attempts" INTEGER NOT NULL,

    CONSTRAINT "task_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "idempotency_key" (
    "world_id" UUID NOT NULL,
    "operation" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "input_hash" TEXT NOT NULL,
    "reply" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_key_pkey" PRIMARY KEY ("world_id","operation","key")
);

-- CreateTable
CREATE TABLE "webhook_delivery" (
    "id" UUID NOT NULL,
    "world_id" UUID NOT NULL,
    "type" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "status" "DeliveryStatus" NOT NULL,
    "attempts" INTEGER NOT NULL,
    "next_attempt_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_delivery_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_attempt" (
    "id" BIGSERIAL NOT NULL,
    "delivery_id" UUID NOT NULL,
    "attempted_at" TIMESTAMPTZ(3) NOT NULL,
    "duration_ms" INTEGER NOT NULL,
    "response_status" INTEGER,
    "response_body" TEXT,
    "error" TEXT,

    CONSTRAINT "webhook_attempt_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "world_platform_id_environment_key" ON "world"("platform_id", "environment");

-- CreateIndex
CREATE UNIQUE INDEX "api_token_client_id_key" ON "api_token"("client_id");

-- CreateIndex
CREATE INDEX "api_token_world_id_created_at_id_idx" ON "api_token"("world_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "signing_key_world_id_key_version_key" ON "signing_key"("world_id", "key_version");

-- CreateIndex
CREATE INDEX "customer_world_id_created_at_id_idx" ON "customer"("world_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "customer_world_id_platform_customer_id_idx" ON "customer"("world_id", "platform_customer_id");

-- CreateIndex
CREATE UNIQUE INDEX "customer_world_id_uma_address_key" ON "customer"("world_id", "uma_address");

-- CreateIndex
CREATE UNIQUE INDEX "internal_account_funding_reference_key" ON "internal_account"("funding_reference");

-- CreateIndex
CREATE INDEX "internal_account_world_id_created_at_id_idx" ON "internal_account"("world_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "internal_account_world_id_customer_id_currency_key" ON "internal_account"("world_id", "customer_id", "currency");

-- CreateIndex
CREATE UNIQUE INDEX "internal_account_platform_key" ON "internal_account"("world_id", "currency") WHERE (customer_id IS NULL);

-- CreateIndex
CREATE INDEX "external_account_world_id_created_at_id_idx" ON "external_account"("world_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "external_account_world_id_customer_id_created_at_id_idx" ON "external_account"("world_id", "customer_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "external_account_world_id_fingerprint_key" ON "external_account"("world_id", "fingerprint");

-- CreateIndex
CREATE UNIQUE INDEX "quote_transaction_id_key" ON "quote"("transaction_id");

-- CreateIndex
CREATE INDEX "quote_world_id_created_at_id_idx" ON "quote"("world_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "quote_world_id_customer_id_created_at_id_idx" ON "quote"("world_id", "customer_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "quote_world_id_source_account_id_created_at_id_idx" ON "quote"("world_id", "source_account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "quote_world_id_destination_account_id_created_at_id_idx" ON "quote"("world_id", "destination_account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "transaction_world_id_created_at_id_idx" ON "transaction"("world_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "transaction_world_id_customer_id_created_at_id_idx" ON "transaction"("world_id", "customer_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "transaction_world_id_source_account_id_created_at_id_idx" ON "transaction"("world_id", "source_account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "transaction_world_id_destination_account_id_created_at_id_idx" ON "transaction"("world_id", "destination_account_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "transaction_world_id_reference_key" ON "transaction"("world_id", "reference");

-- CreateIndex
CREATE INDEX "ledger_entry_transaction_id_idx" ON "ledger_entry"("transaction_id");

-- CreateIndex
CREATE INDEX "ledger_posting_account_id_id_idx" ON "ledger_posting"("account_id", "id");

-- CreateIndex
CREATE INDEX "ledger_posting_entry_id_idx" ON "ledger_posting"("entry_id");

-- CreateIndex
CREATE UNIQUE INDEX "event_uuid_key" ON "event"("uuid");

-- CreateIndex
CREATE UNIQUE INDEX "event_position_key" ON "event"("position");

-- CreateIndex
CREATE INDEX "event_unplaced_idx" ON "event"("id") WHERE (position IS NULL);

-- CreateIndex
CREATE INDEX "event_world_id_position_idx" ON "event"("world_id", "position");

-- CreateIndex
CREATE INDEX "task_due_at_idx" ON "task"("due_at");

-- CreateIndex
CREATE INDEX "webhook_delivery_next_attempt_at_idx" ON "webhook_delivery"("next_attempt_at");

-- CreateIndex
CREATE INDEX "webhook_delivery_world_id_created_at_id_idx" ON "webhook_delivery"("world_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "webhook_attempt_delivery_id_id_idx" ON "webhook_attempt"("delivery_id", "id");

-- AddForeignKey
ALTER TABLE "world" ADD CONSTRAINT "world_platform_id_fkey" FOREIGN KEY ("platform_id") REFERENCES "platform"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_token" ADD CONSTRAINT "api_token_world_id_fkey" FOREIGN KEY ("world_id") REFERENCES "world"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "signing_key" ADD CONSTRAINT "signing_key_world_id_fkey" FOREIGN KEY ("world_id") REFERENCES "world"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "internal_account" ADD CONSTRAINT "internal_account_id_fkey" FOREIGN KEY ("id") REFERENCES "ledger_account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ledger_posting" ADD CONSTRAINT "ledger_posting_entry_id_fkey" FOREIGN KEY ("entry_id") REFERENCES "ledger_entry"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ledger_posting" ADD CONSTRAINT "ledger_posting_account_id_fkey" FOREIGN KEY ("account_id") REFERENCES "ledger_account"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_attempt" ADD CONSTRAINT "webhook_attempt_delivery_id_fkey" FOREIGN KEY ("delivery_id") REFERENCES "webhook_delivery"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What Prisma's schema cannot say: an INTERNAL account, and no other, keeps a balance, and it is never negative.
ALTER TABLE "ledger_account" ADD CONSTRAINT "ledger_account_balance_check"
  CHECK (("kind" = 'INTERNAL') = ("balance" IS NOT NULL) AND "balance" >= 0);

-- The ledger is append-only.
CREATE FUNCTION "refuse_change"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of % are never changed or removed', TG_TABLE_NAME;
END $$;
CREATE TRIGGER "ledger_entry_append_only" BEFORE UPDATE OR DELETE ON "ledger_entry"
  FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "ledger_posting_append_only" BEFORE UPDATE OR DELETE ON "ledger_posting"
  FOR EACH ROW EXECUTE FUNCTION "refuse_change"();
