-- CreateEnum
CREATE TYPE "ApprovalChannel" AS ENUM ('WEBHOOK', 'API');

-- DropIndex
DROP INDEX "event_position_key";

-- DropIndex
DROP INDEX "event_world_id_position_idx";

-- DropIndex
DROP INDEX "webhook_delivery_next_attempt_at_idx";

-- AlterTable
ALTER TABLE "event" ADD COLUMN     "sequence" INTEGER;
UPDATE "event" e SET "sequence" = n."sequence" FROM (
  SELECT "id", row_number() OVER (PARTITION BY "resource_id" ORDER BY "position")::int AS "sequence" FROM "event" WHERE "position" IS NOT NULL
) n WHERE n."id" = e."id";

-- AlterTable
ALTER TABLE "signing_key" DROP COLUMN "status",
ADD COLUMN     "signs_from" TIMESTAMPTZ(3);
UPDATE "signing_key" SET "signs_from" = "created_at";
ALTER TABLE "signing_key" ALTER COLUMN "signs_from" SET NOT NULL;

-- AlterTable
ALTER TABLE "webhook_attempt" ADD COLUMN     "url" TEXT;
UPDATE "webhook_attempt" a SET "url" = d."url" FROM "webhook_delivery" d WHERE d."id" = a."delivery_id";
ALTER TABLE "webhook_attempt" ALTER COLUMN "url" SET NOT NULL;

-- AlterTable
ALTER TABLE "webhook_delivery" DROP COLUMN "url",
ADD COLUMN     "give_up_at" TIMESTAMPTZ(3),
ADD COLUMN     "once" BOOLEAN,
ADD COLUMN     "position" BIGINT,
ADD COLUMN     "resource_id" TEXT;
UPDATE "webhook_delivery" d SET "give_up_at" = d."created_at" + interval '7 days', "once" = d."type" = 'TEST', "position" = e."position", "resource_id" = e."resource_id"
FROM "event" e WHERE e."uuid" = d."id";
ALTER TABLE "webhook_delivery" ALTER COLUMN "give_up_at" SET NOT NULL, ALTER COLUMN "once" SET NOT NULL, ALTER COLUMN "position" SET NOT NULL, ALTER COLUMN "resource_id" SET NOT NULL;

-- AlterTable
ALTER TABLE "world" ADD COLUMN     "incoming_payment_approval" "ApprovalChannel" NOT NULL DEFAULT 'WEBHOOK';

-- DropEnum
DROP TYPE "SigningKeyStatus";

-- CreateTable
CREATE TABLE "approval" (
    "id" UUID NOT NULL,
    "world_id" UUID NOT NULL,
    "transaction_id" UUID NOT NULL,
    "requested_fields" JSONB NOT NULL,
    "deadline" TIMESTAMPTZ(3) NOT NULL,
    "decided_by" "ApprovalChannel",
    "reason" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "version" INTEGER NOT NULL,

    CONSTRAINT "approval_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_endpoint" (
    "world_id" UUID NOT NULL,
    "due_at" TIMESTAMPTZ(3),
    "failures" INTEGER NOT NULL,
    "paused_until" TIMESTAMPTZ(3),
    "last_success_at" TIMESTAMPTZ(3),
    "last_failure_at" TIMESTAMPTZ(3),
    "last_error" TEXT,

    CONSTRAINT "webhook_endpoint_pkey" PRIMARY KEY ("world_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "approval_transaction_id_key" ON "approval"("transaction_id");

-- CreateIndex
CREATE INDEX "webhook_endpoint_due_at_idx" ON "webhook_endpoint"("due_at");

-- CreateIndex
CREATE INDEX "event_world_id_position_idx" ON "event"("world_id", "position") WHERE (position IS NOT NULL);

-- CreateIndex
CREATE UNIQUE INDEX "event_position_key" ON "event"("position") WHERE (position IS NOT NULL);

-- CreateIndex
CREATE UNIQUE INDEX "event_resource_id_sequence_key" ON "event"("resource_id", "sequence") WHERE (sequence IS NOT NULL);

-- CreateIndex
CREATE INDEX "webhook_delivery_world_id_next_attempt_at_idx" ON "webhook_delivery"("world_id", "next_attempt_at") WHERE (next_attempt_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "webhook_delivery_once_idx" ON "webhook_delivery"("world_id") WHERE (once AND (next_attempt_at IS NOT NULL));

-- CreateIndex
CREATE INDEX "webhook_delivery_world_id_give_up_at_idx" ON "webhook_delivery"("world_id", "give_up_at") WHERE (status = 'PENDING'::"DeliveryStatus");

-- CreateIndex
CREATE INDEX "webhook_delivery_resource_id_position_idx" ON "webhook_delivery"("resource_id", "position") WHERE (status = 'PENDING'::"DeliveryStatus");

-- Of each resource only the earliest delivery that is not over is due; every world with deliveries has an endpoint.
UPDATE "webhook_delivery" d SET "next_attempt_at" = NULL WHERE d."status" = 'PENDING' AND EXISTS (
  SELECT 1 FROM "webhook_delivery" p WHERE p."resource_id" = d."resource_id" AND p."status" = 'PENDING' AND p."position" < d."position");
INSERT INTO "webhook_endpoint" ("world_id", "due_at", "failures")
SELECT "world_id", min("next_attempt_at"), 0 FROM "webhook_delivery" GROUP BY "world_id";
